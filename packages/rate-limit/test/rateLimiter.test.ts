import { fixedWindow, type RateLimitStore, rateLimiter, rateLimitHeaders, tokenBucket } from "@outreach/rate-limit"
import { memoryStore } from "@outreach/rate-limit/memory"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const policy = fixedWindow({ limit: 2 })
const away: RateLimitStore = { spend: () => Promise.reject(new Error("no connection")) }

describe("a penalty, a reward or a reset of a key", () => {
  const open = (limited = policy) => {
    const clock = { now: 1_780_000_000_000 }
    return { clock, ...rateLimiter(limited, memoryStore({ now: () => clock.now })) }
  }
  const bucket = tokenBucket({ capacity: 10, refill: "1 per second" })

  it("takes no more than is left, so that a key recovers in its usual time", async () => {
    const { clock, penalty, take } = open(bucket)
    await take("a", { cost: 7 })
    expect(await penalty("a", 100)).toMatchObject({ allowed: true, remaining: 0, resetAfter: 10, retryAfter: null })
    expect(await take("a")).toMatchObject({ allowed: false, retryAfter: 1 })
    clock.now += 10_000
    expect(await take("a", { cost: 10 })).toMatchObject({ allowed: true })
  })
  it("never gives back more than the full limit", async () => {
    const { penalty, reward, reset, take } = open(bucket)
    expect((await reward("new", 5)).remaining).toBe(10)
    expect((await take("new", { cost: undefined })).remaining).toBe(9)
    await penalty("a", 9)
    expect((await reward("a")).remaining).toBe(2)
    expect((await reward("a", 100)).remaining).toBe(10)
    await penalty("a", 9)
    expect((await reset("a")).remaining).toBe(10)
  })
  it("undoes a request only in its window, and not if it wasn't counted", async () => {
    const { clock, take, reward } = open()
    const undo = await take("a", { cost: 2 })
    clock.now = undo.fullAt - 1
    expect((await reward("a", 1, undo)).remaining).toBe(1)
    clock.now = undo.fullAt
    await take("a", { cost: 2 })
    expect((await reward("a", 1, undo)).remaining).toBe(0)
    const uncounted = await rateLimiter(policy, away, { whenAway: "allow" }).take("a")
    expect((await reward("a", 1, uncounted)).remaining).toBe(0)
  })
  it("undoes a request of a bucket exactly, or not at all after its units may have come in", async () => {
    const times = fc.array(fc.record({ wait: fc.nat(3000), cost: fc.nat(3) }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(times, fc.integer({ min: 1, max: 10 }), times, async (before, cost, after) => {
        const [undone, without] = [open(bucket), open(bucket)]
        const takeBoth = async (requests: typeof before) => {
          for (const request of requests) {
            for (const { clock } of [undone, without]) clock.now += request.wait
            if ((await undone.take("a", request)).allowed) await without.take("a", request)
          }
        }
        await takeBoth(before)
        const undo = await undone.take("a", { cost })
        if (!undo.allowed) return
        await takeBoth(after)
        const { remaining, fullAt } = await undone.reward("a", cost, undo)
        const expected = await without.take("a", { cost: 0 })
        if (undone.clock.now < undo.fullAt) expect([remaining, fullAt]).toEqual([expected.remaining, expected.fullAt])
        else expect(remaining).toBeLessThanOrEqual(expected.remaining)
      }),
    )
  })
})

describe("a limiter", () => {
  it("throws the error of a store that is away, or allows the request without headers, and reports the error", async () => {
    const errors: unknown[] = []
    const onAway = (error: unknown) => errors.push(error)
    await expect(rateLimiter(policy, away, { onAway }).take("a")).rejects.toThrow("no connection")
    const decision = await rateLimiter(policy, away, { whenAway: "allow", onAway }).reset("a")
    expect(decision).toMatchObject({ allowed: true, counted: false, limit: 2, retryAfter: null })
    expect(errors).toEqual([new Error("no connection"), new Error("no connection")])
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
      await expect(limiter.reward("a", cost)).rejects.toThrow(/^cost must be a whole number from 0/)
    }
  })
})
