import { fixedWindow, type RateLimitStore, rateLimiter, rateLimitHeaders } from "@outreach/rate-limit"
import { memoryStore } from "@outreach/rate-limit/memory"
import { describe, expect, it } from "vitest"

const policy = fixedWindow({ limit: 2 })
const away: RateLimitStore = { spend: () => Promise.reject(new Error("no connection")) }

describe("a limiter", () => {
  it("throws the error of a store that is away", async () => {
    await expect(rateLimiter(policy, away).take("a")).rejects.toThrow("no connection")
  })
  it("can allow requests while its store is unavailable, reports the error, and sets no headers", async () => {
    const errors: unknown[] = []
    const limiter = rateLimiter(policy, away, { whenAway: "allow", onAway: (error) => errors.push(error) })
    const decision = await limiter.take("a")
    expect(decision).toMatchObject({ allowed: true, counted: false, limit: 2, retryAfter: null })
    expect(errors).toEqual([new Error("no connection")])
    expect([rateLimitHeaders(decision, "x"), rateLimitHeaders(decision, "draft")]).toEqual([{}, {}])
  })
  it("ends the wait for a store that does not respond by the signal, and throws its reason or allows the request", async () => {
    const mute: RateLimitStore = { spend: () => new Promise(() => {}) }
    const abort = new AbortController()
    const signal = () => abort.signal
    const strict = rateLimiter(policy, mute, { signal }).take("a")
    const lenient = rateLimiter(policy, mute, { signal, whenAway: "allow" }).take("a")
    abort.abort(new Error("too slow"))
    await expect(strict).rejects.toThrow("too slow")
    await expect(rateLimiter(policy, mute, { signal }).take("a")).rejects.toThrow("too slow")
    expect(await lenient).toMatchObject({ allowed: true, counted: false })
  })
  it("never allows an invalid key or cost, even while its store is unavailable", async () => {
    const limiter = rateLimiter(policy, away, { whenAway: "allow" })
    for (const key of ["a".repeat(513), "a\0", undefined as unknown as string]) {
      await expect(limiter.take(key)).rejects.toThrow(
        "key must be a text of at most 512 characters without NUL: hash a longer one",
      )
    }
    for (const cost of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "1" as unknown as number]) {
      await expect(limiter.take("a", { cost })).rejects.toThrow(/^cost must be a whole number from 0/)
    }
  })
  it("counts a cost of undefined as one request", async () => {
    const limiter = rateLimiter(policy, memoryStore({ now: () => 0 }))
    expect(await limiter.take("a", { cost: undefined })).toMatchObject({ remaining: 1 })
  })
})
