import fc from "fast-check"
import { expect, it } from "vitest"
import { rateAllowsAt, recordStart } from "../../src/deliveries/callRate.ts"

/** Starts each call at the earliest time after the given wait, with changing rates. Returns the times and rates. */
const beginAll = (waits: ReadonlyArray<number>, rateOf: (i: number) => number) => {
  const begun: Array<number> = []
  let now = 0
  let longest = 0
  const calls = waits.map((wait, i) => {
    const rate = rateOf(i)
    now = Math.max(now + wait, rateAllowsAt(rate, begun))
    recordStart(begun, now)
    longest = Math.max(longest, begun.length)
    return { at: now, rate }
  })
  return { calls, longest }
}
const within = (calls: ReadonlyArray<{ readonly at: number }>, from: number, ms: number) =>
  calls.filter(({ at }) => at >= from && at < from + ms).length

const waits = fc.array(fc.oneof(fc.constant(0), fc.nat(3000)), { maxLength: 300 })

it("has no more calls in any second than the rate, and no more than a tenth of them in any tenth", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), waits, (rate, waits) => {
      const { calls, longest } = beginAll(waits, () => rate)
      for (const { at } of calls) {
        expect(within(calls, at, 1000)).toBeLessThanOrEqual(rate)
        expect(within(calls, at, 100)).toBeLessThanOrEqual(Math.ceil(rate / 10))
      }
      expect(longest).toBeLessThanOrEqual(3 * rate + 1)
    }),
  )
})

it("counts the calls of the last second when the rate changes", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), waits, (rates, waits) => {
      const { calls } = beginAll(waits, (i) => rates[Math.floor(i / 10) % rates.length]!)
      for (const [i, { at, rate }] of calls.entries()) {
        const before = calls.slice(0, i).filter((call) => call.at > at - 1000).length
        expect(before).toBeLessThan(rate)
      }
    }),
  )
})

it("reaches the rate in every second, as long as there is something to send", () => {
  for (const rate of [1, 2, 3, 10, 15, 99, 1000, 10_000]) {
    const { calls } = beginAll(Array(rate * 3).fill(0), () => rate)
    for (const second of [0, 1, 2]) expect(within(calls, second * 1000, 1000)).toBe(rate)
  }
})
