import { expect, it } from "vitest"
import { ask } from "../ask.ts"
import { startApi } from "../startApi.ts"

const api = startApi()

it.each([
  "/health",
  "/v2/health",
  "/partners/consumer/tokens",
  "/v2/partners/consumer/events?since=2026-01-01T00:00:00Z",
  "/V1/partners/consumer/digest",
  "/surveys",
])("is in the path prefix /v1: %s is not a path", async (target) => {
  const { status, body } = await ask(api(), target)
  expect([status, body.error.code]).toEqual([404, "NOT_FOUND"])
})

it("is deprecated nowhere: no answer carries Deprecation or Sunset", async () => {
  for (const target of ["/v1/health", "/v1/partners/consumer/tokens", "/v1/uploads/presign"]) {
    const { headers } = await ask(api(), target)
    expect([headers.get("Deprecation"), headers.get("Sunset")]).toEqual([null, null])
  }
})
