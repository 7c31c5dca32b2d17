import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { classifyResponse } from "../../src/deliveries/classifyResponse.ts"
import { SPECIFIED_SCHEDULE } from "../../src/deliveries/deliverySchedule.ts"

const ofStatus = (status: number) => classifyResponse({ status, response: "" })

describe("classifyResponse", () => {
  it("takes every 2xx for a success", () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 299 }), (status) => {
        expect(ofStatus(status)).toEqual({ verdict: "success", reason: "success" })
      }),
    )
  })

  it("takes every 4xx for permanent, those that HTTP calls retryable among them, at any attempt", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 400, max: 499 }), fc.constantFrom(408, 425, 429)),
        fc.integer({ min: 1, max: 9 }),
        (status, attempt) => {
          const outcome = ofStatus(status)
          expect(outcome).toEqual({ verdict: "permanent", reason: "client_error" })
          expect(SPECIFIED_SCHEDULE.next({ attempt, outcome })).toEqual({ retry: false, because: "permanent" })
        },
      ),
    )
  })

  it("treats a 4xx that the endpoint names as transient, and other statuses as before", () => {
    const statuses = fc.uniqueArray(fc.integer({ min: 400, max: 599 }), { maxLength: 32 })
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 599 }), statuses, (status, named) => {
        const outcome = classifyResponse({ status, response: "" }, named)
        const isNamed = status < 500 && named.includes(status)
        expect(outcome).toEqual(isNamed ? { verdict: "transient", reason: "client_error" } : ofStatus(status))
      }),
    )
  })

  it.each([
    ["informational", 100],
    ["redirect", 300],
    ["server_error", 500],
  ])("takes a status that is %s for transient", (reason, from) => {
    fc.assert(
      fc.property(fc.integer({ min: from, max: from + 99 }), (status) => {
        expect(ofStatus(status)).toEqual({ verdict: "transient", reason })
      }),
    )
  })

  it("takes a status of no class for transient", () => {
    for (const status of [0, -200, 99, 600, 2000, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(ofStatus(status)).toEqual({ verdict: "transient", reason: "invalid_status" })
    }
  })

  it("takes every failure of the network for transient, and keeps its name", () => {
    for (const error of ["refused", "name_not_asked", "deadline", "blocked_address", "unknown"] as const) {
      expect(classifyResponse({ error })).toEqual({ verdict: "transient", reason: error })
    }
  })
})
