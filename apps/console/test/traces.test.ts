import { createServer } from "node:http"
import { text } from "node:stream/consumers"
import { addOperator, createSignInLink } from "@outreach/domain/operators/Operators"
import { eventually } from "@outreach/testing/eventually"
import { listen } from "@outreach/testing/listen"
import { Effect, Redacted } from "effect"
import { afterAll, expect, it } from "vitest"
import { startConsole } from "./startConsole.ts"

const received: Array<string> = []
const collector = createServer(async (request, response) => {
  received.push(`${request.url} ${await text(request)}`)
  response.end("{}")
})
const test = startConsole({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await listen(collector, afterAll)}` })

it("sends a collector neither who was searched for nor the tokens of links, sessions and forms", async () => {
  const operator = await test().as("viewer")
  const { token } = await test().run(
    Effect.flatMap(addOperator({ name: "Traced", role: "viewer", organizationId: null }), ({ id }) =>
      createSignInLink(id, { seconds: 60, once: false }),
    ),
  )
  await operator.get("/?search=dana.reyes%40clinic.test")
  await operator.get(`/sign-in/${Redacted.value(token)}`)
  const all = await eventually(
    () => received.join("\n"),
    (text) => text.includes("/v1/traces") && text.includes("from sign_in_links"),
  )
  expect(all).not.toMatch(/dana.reyes/)
  expect(all).not.toContain(Redacted.value(token))
  expect(all).not.toContain(operator.cookie.slice("session=".length))
})
