import { addOperator, createSignInLink } from "@outreach/domain/operators/Operators"
import { otlpCollector } from "@outreach/testing/otlpCollector"
import { Effect, Redacted } from "effect"
import { afterAll, expect, it } from "vitest"
import { startConsole } from "./startConsole.ts"

const otlp = await otlpCollector(afterAll)
const test = startConsole({ OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url, OTEL_TRACES_SAMPLER_ARG: "1" })

it("exports traces without search terms and the tokens of links, sessions and forms", async () => {
  const operator = await test().as("viewer")
  const { token } = await test().run(
    Effect.flatMap(addOperator({ name: "Traced", role: "viewer", organizationId: null }), ({ id }) =>
      createSignInLink(id, { seconds: 60, once: false }),
    ),
  )
  await operator.get("/?search=dana.reyes%40clinic.test")
  await operator.get(`/sign-in/${Redacted.value(token)}`)
  // Exports the traces that are left.
  await test().stop()
  const all = otlp.kept.map(({ body }) => body).join("\n")
  for (const span of ['"select from sign_in_links"', '"GET /sign-in/:token"']) expect(all).toContain(span)
  expect(all).not.toMatch(/dana.reyes/)
  expect(all).not.toContain(Redacted.value(token))
  expect(all).not.toContain(operator.cookie.slice("session=".length))
})
