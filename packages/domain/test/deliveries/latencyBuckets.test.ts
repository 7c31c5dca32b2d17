import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { LATENCY_BOUNDS_MS, latencyHistogram, latencyPercentile } from "../../src/deliveries/latencyBuckets.ts"

const latencies = fc.array(fc.integer({ min: 0, max: 60_000 }), { minLength: 1, maxLength: 200 })

describe("latencyPercentile", () => {
  it("lies in the bucket of the latency at that place", () => {
    fc.assert(
      fc.property(latencies, fc.double({ min: 0.01, max: 1, noNaN: true }), (values, share) => {
        const exact = values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1]!
        const bucket = latencyHistogram([exact]).indexOf(1)
        const estimate = latencyPercentile(latencyHistogram(values), share)!
        expect(estimate).toBeGreaterThanOrEqual(LATENCY_BOUNDS_MS[bucket - 1] ?? 0)
        expect(estimate).toBeLessThanOrEqual(LATENCY_BOUNDS_MS[bucket] ?? LATENCY_BOUNDS_MS.at(-1)!)
      }),
    )
  })

  it("is null without calls, and the last bucket's lower bound for the slowest calls", () => {
    expect(latencyPercentile([], 0.5)).toBeNull()
    expect(latencyPercentile(latencyHistogram([]), 0.5)).toBeNull()
    expect(latencyPercentile(latencyHistogram([90_000]), 0.99)).toBe(10_000)
  })
})

it("latencyHistogram counts each latency once", () => {
  fc.assert(
    fc.property(latencies, (values) => {
      expect(latencyHistogram(values).reduce((sum, count) => sum + count)).toBe(values.length)
    }),
  )
})
