import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import type { WebhookResponse } from "../../src/deliveries/classifyResponse.ts"
import { SPECIFIED_SCHEDULE, scheduleOf } from "../../src/deliveries/deliverySchedule.ts"
import { type RetryRules, settleAttempt } from "../../src/deliveries/settleAttempt.ts"

const specified: RetryRules = { retryStatuses: [], disableOnGone: false, schedule: SPECIFIED_SCHEDULE }
const settle = (
  status: number,
  attempt: number,
  { retryAfterMs, ...rules }: Partial<RetryRules> & { readonly retryAfterMs?: number } = {},
) => settleAttempt({ status, response: "", retryAfterMs }, attempt, { ...specified, ...rules }).settlement

const seconds = fc.integer({ min: 1, max: 604_800 })
const delays = fc.array(seconds, { minLength: 1, maxLength: 19 })
const named = fc.constantFrom(400, 408, 429, 499, 500, 503, 599)
const retryAfterMs = fc.oneof(
  fc.integer({ min: 0, max: 1_209_600_000 }),
  fc.constantFrom(0, 1, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY),
)

describe("an attempt", () => {
  it("is settled as specified by default, regardless of Retry-After", () => {
    expect(settle(200, 1)).toEqual({ state: "delivered" })
    for (const status of [400, 404, 408, 410, 425, 429]) {
      expect(settle(status, 1, { retryAfterMs: 60_000 })).toEqual({ state: "rejected" })
    }
    for (const status of [302, 500, 503]) {
      expect(settle(status, 1, { retryAfterMs: 60_000 })).toEqual({ state: "retry", delaySeconds: 30 })
      expect(settle(status, 7, { retryAfterMs: 60_000 })).toEqual({ state: "exhausted" })
    }
    const responses: ReadonlyArray<WebhookResponse> = [{ error: "refused" }, { error: "headers_timeout" }]
    for (const response of responses) {
      expect(settleAttempt(response, 2, specified).settlement).toEqual({ state: "retry", delaySeconds: 120 })
    }
  })

  it("is none, and costs none, when the host's name had no turn", () => {
    for (const attempt of [1, 7, 20]) {
      expect(settleAttempt({ error: "name_not_asked" }, attempt, specified).settlement).toEqual({
        state: "retry",
        delaySeconds: 30,
      })
    }
  })

  it("with a status that the endpoint names waits for the next delay or for Retry-After, and at most for the delay after the next", () => {
    fc.assert(
      fc.property(delays, seconds, retryAfterMs, named, (delays, n, retryAfterMs, status) => {
        const attempt = (n % delays.length) + 1
        const rules = { retryStatuses: [status], schedule: scheduleOf(delays), retryAfterMs }
        const [next, afterNext = 0] = delays.slice(attempt - 1)
        const settlement = settle(status, attempt, rules)
        const delay = settlement.state === "retry" ? settlement.delaySeconds : Number.NaN
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
      state: "retry",
      delaySeconds: 86_400,
    })
    expect(settle(429, 7, { retryStatuses: [429], retryAfterMs: 60_000 })).toEqual({ state: "exhausted" })
    expect(settle(408, 1, { retryStatuses: [429] })).toEqual({ state: "rejected" })
    expect(settle(500, 1, { retryStatuses: [429, 503], retryAfterMs: 60_000 })).toEqual({
      state: "retry",
      delaySeconds: 30,
    })
  })

  it("is the last under a schedule that has become shorter than the attempts that were made", () => {
    fc.assert(
      fc.property(delays, fc.integer({ min: 1, max: 100 }), (delays, more) => {
        expect(settle(503, delays.length + more, { schedule: scheduleOf(delays) })).toEqual({ state: "exhausted" })
      }),
    )
  })

  it("with 410 disables the endpoint if configured, and never ends the delivery", () => {
    for (const attempt of [1, 7, 21]) {
      expect(settle(410, attempt, { disableOnGone: true, retryStatuses: [408] })).toEqual({ state: "gone" })
      expect(settle(404, attempt, { disableOnGone: true })).toEqual({ state: "rejected" })
    }
    expect(settle(200, 1, { disableOnGone: true })).toEqual({ state: "delivered" })
  })
})
