import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { classify, type NetworkFailure } from "../src/classify.ts"

const statusIn = (from: number, to: number) => fc.integer({ min: from, max: to })

describe("classify", () => {
  it("takes every 2xx for delivered", () => {
    fc.assert(
      fc.property(statusIn(200, 299), (status) => {
        expect(classify({ status })).toEqual({ verdict: "delivered", reason: "success" })
      }),
    )
  })

  it("takes every 4xx for permanent, those that HTTP calls retryable among them", () => {
    for (const status of [400, 404, 408, 410, 425, 429, 499]) {
      expect(classify({ status })).toEqual({ verdict: "permanent", reason: "client_error" })
    }
    fc.assert(fc.property(statusIn(400, 499), (status) => classify({ status }).verdict === "permanent"))
  })

  it("takes every 1xx, 3xx and 5xx for transient", () => {
    for (const [reason, from] of [
      ["informational", 100],
      ["redirect", 300],
      ["server_error", 500],
    ] as const) {
      fc.assert(
        fc.property(statusIn(from, from + 99), (status) => {
          expect(classify({ status })).toEqual({ verdict: "transient", reason })
        }),
      )
    }
  })

  it("takes a status that is none for transient", () => {
    for (const status of [0, -200, 99, 99.9, 200.5, 404.5, 600, 2000, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(classify({ status })).toEqual({ verdict: "transient", reason: "invalid_status" })
    }
  })

  it("takes every failure of the network for transient and names it", () => {
    const failures = {
      refused: 1,
      reset: 1,
      unresolved_name: 1,
      name_not_asked: 1,
      tls: 1,
      connect_timeout: 1,
      headers_timeout: 1,
      body_timeout: 1,
      deadline: 1,
      blocked_address: 1,
      unknown: 1,
    } satisfies Record<NetworkFailure, 1>
    for (const error of Object.keys(failures) as NetworkFailure[]) {
      expect(classify({ error })).toEqual({ verdict: "transient", reason: error })
    }
  })

  it("never passes on an error text that it does not know", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom("constructor", "success", "ECONNRESET")), (text) => {
        expect(classify({ error: text as NetworkFailure })).toEqual({ verdict: "transient", reason: "unknown" })
      }),
      { examples: [["connect ECONNREFUSED 10.0.0.7:443"]] },
    )
  })

  it("does not count a 200 whose body never ended", () => {
    expect(classify({ status: 200, error: "body_timeout" })).toEqual({ verdict: "transient", reason: "body_timeout" })
  })
})
