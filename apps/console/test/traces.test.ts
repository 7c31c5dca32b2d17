import { addOperator, createSignInLink } from "@outreach/domain/operators/Operators"
import { eventually } from "@outreach/testing/eventually"
import { otlpCollector } from "@outreach/testing/otlpCollector"
import { Effect, Redacted } from "effect"
import { afterAll, expect, it } from "vitest"
import { startConsole } from "./startConsole.ts"

const otlp = await otlpCollector(afterAll)
const test = startConsole({ OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url, OTEL_TRACES_SAMPLER_ARG: "1" })

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
    () => otlp.kept.map(({ body }) => body).join("\n"),
    (text) => text.includes('"select from sign_in_links"') && text.includes('"GET /sign-in/:token"'),
  )
  expect(all).not.toMatch(/dana.reyes/)
  expect(all).not.toContain(Redacted.value(token))
  expect(all).not.toContain(operator.cookie.slice("session=".length))
})
