import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { SPECIFIED_SCHEDULE, scheduleOf } from "../../src/deliveries/deliverySchedule.ts"
import { classifyResponse, type RetryRules, settleAttempt } from "../../src/deliveries/settleAttempt.ts"
import type { WebhookResponse } from "../../src/deliveries/WebhookClient.ts"

const specified: RetryRules = { retryStatuses: [], disableOnGone: false, schedule: SPECIFIED_SCHEDULE }
/** Returns the next state, without the reason. */
const nextOf = (...given: Parameters<typeof settleAttempt>) => {
  const { reason: _reason, ...settlement } = settleAttempt(...given)
  return settlement
}
const settle = (
  status: number,
  attempt: number,
  { retryAfterMs, ...rules }: Partial<RetryRules> & { readonly retryAfterMs?: number } = {},
) => nextOf({ status, response: "", retryAfterMs }, attempt, { ...specified, ...rules })

const seconds = fc.integer({ min: 1, max: 604_800 })
const delays = fc.array(seconds, { minLength: 1, maxLength: 19 })
const named = fc.constantFrom(400, 408, 429, 499, 500, 503, 599)
const retryAfterMs = fc.oneof(
  fc.integer({ min: 0, max: 1_209_600_000 }),
  fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY),
)

describe("an attempt", () => {
  it("is settled as specified by default, regardless of Retry-After", () => {
    expect(settle(200, 1)).toEqual({ settlement: "delivered" })
    for (const status of [400, 404, 408, 410, 425, 429]) {
      expect(settle(status, 1, { retryAfterMs: 60_000 })).toEqual({ settlement: "rejected" })
    }
    for (const status of [302, 500, 503]) {
      expect(settle(status, 1, { retryAfterMs: 60_000 })).toEqual({ settlement: "retry", delay: 30 })
      expect(settle(status, 7, { retryAfterMs: 60_000 })).toEqual({ settlement: "exhausted" })
    }
    const responses: ReadonlyArray<WebhookResponse> = [{ error: "refused" }, { error: "headers_timeout" }]
    for (const response of responses) {
      expect(nextOf(response, 2, specified)).toEqual({ settlement: "retry", delay: 120 })
    }
  })

  it.each(["name_not_asked", "proxy_failed"] as const)("isn't counted if this service failed before: %s", (error) => {
    for (const attempt of [1, 7, 20]) {
      expect(nextOf({ error }, attempt, specified)).toEqual({ settlement: "retry", delay: 30 })
    }
  })

  it("with a status that the endpoint names waits for the next delay or for Retry-After, and at most for the delay after the next", () => {
    fc.assert(
      fc.property(delays, seconds, retryAfterMs, named, (delays, n, retryAfterMs, status) => {
        const attempt = (n % delays.length) + 1
        const rules = { retryStatuses: [status], schedule: scheduleOf(delays), retryAfterMs }
        const [next, afterNext = 0] = delays.slice(attempt - 1)
        const settlement = settle(status, attempt, rules)
        const delay = settlement.delay ?? Number.NaN
        const asked = retryAfterMs / 1000
        expect(delay).toBeGreaterThanOrEqual(next!)
        expect(delay).toBeLessThanOrEqual(Math.max(next!, afterNext))
        if (asked <= next! || attempt === delays.length) expect(delay).toBe(next)
        else if (asked <= afterNext) expect(delay).toBe(asked)
        else expect(delay).toBe(Math.max(next!, afterNext))
      }),
    )
  })

  it("with a status that the endpoint names is exhausted after the last, as any other failure", () => {
    expect(settle(429, 6, { retryStatuses: [429], retryAfterMs: 604_800_000 })).toEqual({
      settlement: "retry",
      delay: 86_400,
    })
    expect(settle(429, 7, { retryStatuses: [429], retryAfterMs: 60_000 })).toEqual({ settlement: "exhausted" })
    expect(settle(408, 1, { retryStatuses: [429] })).toEqual({ settlement: "rejected" })
    expect(settle(500, 1, { retryStatuses: [429, 503], retryAfterMs: 60_000 })).toEqual({
      settlement: "retry",
      delay: 30,
    })
  })

  it("is the last under a schedule that has become shorter than the attempts that were made", () => {
    fc.assert(
      fc.property(delays, fc.integer({ min: 1, max: 100 }), (delays, more) => {
        expect(settle(503, delays.length + more, { schedule: scheduleOf(delays) })).toEqual({ settlement: "exhausted" })
      }),
    )
  })

  it("with 410 disables the endpoint if configured, and never ends the delivery", () => {
    for (const attempt of [1, 7, 21]) {
      expect(settle(410, attempt, { disableOnGone: true, retryStatuses: [408] })).toEqual({ settlement: "gone" })
      expect(settle(404, attempt, { disableOnGone: true })).toEqual({ settlement: "rejected" })
    }
    expect(settle(200, 1, { disableOnGone: true })).toEqual({ settlement: "delivered" })
  })
})

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
    ["informational", 100, 199],
    ["redirect", 300, 399],
    ["server_error", 500, 599],
    ["invalid_status", 600, 2000],
    ["invalid_status", -200, 99],
  ])("takes a status that is %s for transient", (reason, min, max) => {
    fc.assert(
      fc.property(fc.integer({ min, max }), (status) => {
        expect(ofStatus(status)).toEqual({ verdict: "transient", reason })
      }),
    )
  })

  it("takes every failure of the network for transient, and keeps its name", () => {
    for (const error of ["refused", "name_not_asked", "deadline", "blocked_address", "unknown"] as const) {
      expect(classifyResponse({ error })).toEqual({ verdict: "transient", reason: error })
    }
  })
})
