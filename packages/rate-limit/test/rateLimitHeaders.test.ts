import { decide, decideCount, fixedWindow, rateLimitHeaders, tokenBucket } from "@outreach/rate-limit"
import { describe, expect, it } from "vitest"

const window = fixedWindow({ limit: 100 })
const bucket = tokenBucket({ name: "burst", capacity: 10, refill: "7 per second" })

describe("rateLimitHeaders", () => {
  it("renders whole numbers, and Retry-After on a refusal only", () => {
    expect(rateLimitHeaders(decideCount(window, 3, 30_500), "x")).toEqual({
      "X-RateLimit-Limit": "100",
      "X-RateLimit-Remaining": "97",
      "X-RateLimit-Reset": "60",
    })
    expect(rateLimitHeaders(decideCount(window, 101, 30_500), "x")).toMatchObject({ "Retry-After": "30" })
  })
  it("renders the fields of the draft, with the time that is left", () => {
    expect(rateLimitHeaders(decideCount(window, 50, 30_500), "draft")).toEqual({
      RateLimit: '"default";r=50;t=30',
      "RateLimit-Policy": '"default";q=100;w=60',
    })
    expect(rateLimitHeaders(decide(bucket, undefined, { now: 100_000, cost: 3 }).decision, "draft")).toEqual({
      RateLimit: '"burst";r=7;t=1',
      "RateLimit-Policy": '"burst";q=10;w=2',
    })
  })
  it("never lets Retry-After end before the draft's effective window", () => {
    const { state } = decide(bucket, undefined, { now: 100_000, cost: 10 })
    expect(rateLimitHeaders(decide(bucket, state, { now: 100_000 }).decision, "draft")).toEqual({
      RateLimit: '"burst";r=0;t=1',
      "RateLimit-Policy": '"burst";q=10;w=2',
      "Retry-After": "1",
    })
    expect(rateLimitHeaders(decideCount(window, 101, 30_500), "draft")).toMatchObject({
      RateLimit: '"default";r=0;t=30',
      "Retry-After": "30",
    })
  })
  it("leaves Retry-After out where waiting does not help", () => {
    const { decision } = decide(bucket, undefined, { now: 100_000, cost: 11 })
    for (const form of ["x", "draft"] as const)
      expect(rateLimitHeaders(decision, form)).not.toHaveProperty("Retry-After")
  })
})
