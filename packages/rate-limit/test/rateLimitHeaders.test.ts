import { expect, it } from "vitest"
import { decide, rateLimitHeaders } from "../src/fixedWindow.ts"

it("renders whole numbers, and Retry-After on a refusal only", () => {
  expect(rateLimitHeaders(decide(3, { limit: 100 }, 30.5))).toEqual({
    "X-RateLimit-Limit": "100",
    "X-RateLimit-Remaining": "97",
    "X-RateLimit-Reset": "60",
  })
  expect(rateLimitHeaders(decide(101, { limit: 100 }, 30.5))).toMatchObject({ "Retry-After": "30" })
})
