import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type ExponentialOptions, exponential } from "../src/exponential.ts"
import type { Policy, PolicyOptions } from "../src/Policy.ts"
import { schedule } from "../src/schedule.ts"

const transient = { verdict: "transient" } as const
const exact = { jitter: "none" } as const

/** Lists the delays of a task that always fails for now, and why they end. */
function delaysOf(policy: Policy, random?: () => number): { delays: number[]; because: string } {
  const delays: number[] = []
  for (let attempt = 1; ; attempt++) {
    const elapsed = delays.reduce((sum, delay) => sum + delay, 0)
    const next = policy.next({ attempt, outcome: transient, elapsed, random })
    if (!next.retry) return { delays, because: next.because }
    delays.push(next.delay)
  }
}

describe("exponential", () => {
  it("multiplies each delay by the factor, up to the longest", () => {
    const policy = exponential({ first: "200ms", factor: 3, most: "5s", attempts: 6, ...exact })
    expect(delaysOf(policy)).toEqual({ delays: [200, 600, 1800, 5000, 5000], because: "exhausted" })
  })

  it("makes six attempts with full jitter by default", () => {
    expect(delaysOf(exponential(), () => 0.5).delays).toEqual([100, 200, 400, 800, 1600])
  })

  it("makes a single attempt of one", () => {
    expect(delaysOf(exponential({ attempts: 1, ...exact }))).toEqual({ delays: [], because: "exhausted" })
  })

  it("retries forever if attempts is infinite, and its delays don't overflow", () => {
    for (const first of ["1s", "0s"] as const) {
      const policy = exponential({ first, attempts: Number.POSITIVE_INFINITY, ...exact })
      for (const attempt of [1000, 1e6, Number.MAX_SAFE_INTEGER]) {
        const delay = first === "0s" ? 0 : 30_000
        expect(policy.next({ attempt, outcome: transient })).toEqual({ retry: true, delay })
      }
    }
  })

  it.each([
    [{ first: "1 s" }, "first"],
    [{ first: -1 }, "first"],
    [{ most: Number.NaN }, "most"],
    [{ factor: 0.5 }, "factor must be a number from 1"],
    [{ factor: Number.NaN }, "factor"],
    [{ attempts: 0 }, "attempts must be a whole number from 1, or Infinity"],
    [{ attempts: 2.5 }, "attempts"],
    [{ attempts: Number.NaN }, "attempts"],
    [{ jitter: "some" }, "jitter must be full, equal or none"],
    [{ jitter: "__proto__" }, "jitter"],
    [{ jitter: "constructor" }, "jitter"],
    [{ deadline: "soon" }, "deadline"],
    [{ maxRetryAfter: "-1s" }, "maxRetryAfter"],
  ])("refuses %j and names the option", (options, message) => {
    expect(() => exponential(options as ExponentialOptions)).toThrow(RangeError)
    expect(() => exponential(options as ExponentialOptions)).toThrow(message)
  })
})

describe("schedule", () => {
  it("reads delays as text or as a list, and shows them in milliseconds", () => {
    expect(schedule("30s, 2m ,14d").delays).toEqual([30_000, 120_000, 1_209_600_000])
    expect(schedule(["500ms", 2000, "1h"]).delays).toEqual([500, 2000, 3_600_000])
  })

  it.each([
    ["", 'delay 1, "", is not'],
    ["30s,,2m", 'delay 2, "", is not'],
    ["30s,2m,", 'delay 3, "", is not'],
    ["30s;2m", 'delay 1, "30s;2m", is not'],
    [["30s", Number.NaN], "delay 2, NaN, is not"],
  ])("refuses %j and names the delay", (delays, message) => {
    expect(() => schedule(delays as string)).toThrow(message)
  })

  it("makes one attempt more than there are delays, none sooner than its delay", () => {
    const anyDelays = fc.array(fc.integer({ min: 0, max: 1e9 }), { maxLength: 20 })
    fc.assert(
      fc.property(anyDelays, (delays) => {
        expect(delaysOf(schedule(delays))).toEqual({ delays, because: "exhausted" })
      }),
    )
  })

  it("is exhausted past the end of a schedule that has been shortened", () => {
    expect(schedule("30s").next({ attempt: 5, outcome: transient })).toEqual({ retry: false, because: "exhausted" })
  })
})

describe("every policy", () => {
  const anyPolicy = fc.constantFrom<(options: PolicyOptions) => Policy>(
    (options) => schedule("1s,10s,100s", options),
    (options) => exponential({ first: "1s", factor: 10, most: "100s", attempts: 4, ...options }),
  )

  it("stops after a success or a permanent failure, at any attempt", () => {
    fc.assert(
      fc.property(anyPolicy, fc.integer({ min: 1, max: 100 }), (create, attempt) => {
        for (const verdict of ["success", "permanent"] as const) {
          expect(create({}).next({ attempt, outcome: { verdict } })).toEqual({ retry: false, because: verdict })
        }
      }),
    )
  })

  it("randomizes the whole delay, its second half, or no part of it", () => {
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(anyPolicy, chance, (create, drawn) => {
        const delaysWith = (jitter: "full" | "equal" | "none") => delaysOf(create({ jitter }), () => drawn).delays
        const whole = [1000, 10_000, 100_000]
        expect(delaysWith("full")).toEqual(whole.map((delay) => expect.closeTo(delay * drawn)))
        expect(delaysWith("equal")).toEqual(whole.map((delay) => expect.closeTo(delay * (0.5 + 0.5 * drawn))))
        expect(delaysWith("none")).toEqual(whole)
      }),
    )
  })

  it.each([1, 2, -1, Number.NaN, undefined, "0.5x"])("waits the whole delay where random() returns %s", (drawn) => {
    const next = schedule("10s", { jitter: "full" }).next({
      attempt: 1,
      outcome: transient,
      random: () => drawn as number,
    })
    expect(next).toEqual({ retry: true, delay: 10_000 })
  })

  it("stops if the next attempt would start after the deadline", () => {
    fc.assert(
      fc.property(
        anyPolicy,
        fc.integer({ min: -1e9, max: 1e6 }),
        fc.integer({ min: 0, max: 1e6 }),
        (create, elapsed, deadline) => {
          const next = create({ deadline, ...exact }).next({ attempt: 2, outcome: transient, elapsed })
          const isLate = Math.max(0, elapsed) + 10_000 > deadline
          expect(next).toEqual(isLate ? { retry: false, because: "deadline" } : { retry: true, delay: 10_000 })
        },
      ),
    )
  })

  it("waits for at least Retry-After, and its own delay more, up to the bound", () => {
    const after = (retryAfter: number, maxRetryAfter?: "10m") =>
      schedule("10s", { maxRetryAfter }).next({ attempt: 1, outcome: { verdict: "transient", retryAfter } })
    expect(after(5000)).toEqual({ retry: true, delay: 15_000 })
    expect(after(3_600_000)).toEqual({ retry: true, delay: 3_610_000 })
    expect(after(1e15)).toEqual({ retry: true, delay: 3_610_000 })
    expect(after(Number.POSITIVE_INFINITY, "10m")).toEqual({ retry: true, delay: 610_000 })
    for (const none of [0, -5000, Number.NaN]) expect(after(none)).toEqual({ retry: true, delay: 10_000 })
  })

  it("does not wait for a Retry-After that ends after the deadline", () => {
    const next = exponential({ deadline: "1m", ...exact }).next({
      attempt: 1,
      outcome: { verdict: "transient", retryAfter: 120_000 },
      elapsed: 0,
    })
    expect(next).toEqual({ retry: false, because: "deadline" })
  })

  it("never returns a delay that is not a number from 0", () => {
    const options = fc.record({
      jitter: fc.constantFrom("full", "equal", "none"),
      maxRetryAfter: fc.double({ min: 0, max: 1e9, noNaN: true }),
    })
    fc.assert(
      fc.property(
        anyPolicy,
        options,
        fc.integer({ min: 1, max: 3 }),
        fc.double(),
        fc.double(),
        (create, options, attempt, drawn, retryAfter) => {
          const next = create(options).next({ attempt, outcome: { ...transient, retryAfter }, random: () => drawn })
          expect(next).toMatchObject({ retry: true })
          expect(next.retry && Number.isFinite(next.delay) && next.delay >= 0).toBe(true)
        },
      ),
    )
  })

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, undefined])("rejects attempt %s", (attempt) => {
    const next = () => schedule("1s").next({ attempt: attempt as number, outcome: transient })
    expect(next).toThrow("attempt must be a whole number from 1")
  })

  it("throws an error if random or elapsed is missing but required", () => {
    const attempted = { attempt: 1, outcome: transient }
    expect(() => exponential().next(attempted)).toThrow("random must be such as Math.random, or jitter none")
    const policy = schedule("1s", { deadline: "1m" })
    for (const elapsed of [undefined, Number.NaN]) {
      expect(() => policy.next({ ...attempted, elapsed })).toThrow("elapsed must be milliseconds")
    }
  })
})
