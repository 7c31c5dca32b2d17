import { addOperator, createSignInLink } from "@outreach/domain/operators/Operators"
import { Effect, Redacted } from "effect"
import { expect, it } from "vitest"
import { startConsole } from "../startConsole.ts"

const test = startConsole({ CONSOLE_URL: "https://console.acme.example" })

it("gives the session's cookie to this host and to TLS alone, where the console is reached by TLS", async () => {
  const token = await test().run(
    Effect.gen(function* () {
      const operator = yield* addOperator({ name: "Ada", role: "viewer", organizationId: null })
      return (yield* createSignInLink(operator.id, { seconds: 60, once: false })).token
    }),
  )
  const response = await fetch(`${test().url}/sign-in/${Redacted.value(token)}`, { redirect: "manual" })
  expect(response.headers.get("set-cookie")).toMatch(
    /^__Host-session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
  )
  expect(response.headers.get("strict-transport-security")).toContain("max-age=")
})
