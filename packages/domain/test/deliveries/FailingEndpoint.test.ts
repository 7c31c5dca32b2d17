import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import {
  type FailingEndpoint,
  type FailingHours,
  judgeFailing,
  nextNotice,
  noticeDueAt,
} from "../../src/deliveries/FailingEndpoint.ts"
import { EndpointId, OrganizationId } from "../../src/Identifier.ts"

const HOUR = 3_600_000
const HOURS: FailingHours = { notice: 24, reminder: 72, disable: 120 }

/** An endpoint with only failed calls since 0, while other endpoints responded. */
const failingFor = (hours: number, more: Partial<FailingEndpoint> = {}): FailingEndpoint => ({
  endpointId: EndpointId.make(`whe_${"0".repeat(32)}`),
  organizationId: OrganizationId.make(`org_${"0".repeat(32)}`),
  version: 1,
  since: 0,
  notices: 0,
  noticedAt: null,
  isPending: false,
  disableWhenFailing: true,
  succeededAt: null,
  firstFailedAt: 0,
  lastFailedAt: hours * HOUR,
  answeredAt: hours * HOUR - 1,
  ...more,
})
const noticed = (notices: number) => ({ _tag: "Noticed", notices, isNotified: true })

describe("judgeFailing", () => {
  it("starts with the first failed call, and ends with one success", () => {
    expect(judgeFailing(failingFor(0, { since: null, firstFailedAt: 7 }), HOURS)).toEqual({ _tag: "Began", at: 7 })
    expect(judgeFailing(failingFor(0, { since: null, firstFailedAt: null }), HOURS)).toBe(null)
    expect(judgeFailing(failingFor(500, { succeededAt: 0 }), HOURS)).toEqual({ _tag: "Recovered" })
    expect(judgeFailing(failingFor(500, { succeededAt: -1 }), HOURS)).toEqual(noticed(1))
  })

  it("tells after a day, tells again after three, and disables after five", () => {
    expect(judgeFailing(failingFor(23.9), HOURS)).toBe(null)
    expect(judgeFailing(failingFor(24), HOURS)).toEqual(noticed(1))
    const told = { notices: 1, noticedAt: 24 * HOUR }
    expect(judgeFailing(failingFor(71.9, told), HOURS)).toBe(null)
    expect(judgeFailing(failingFor(72, told), HOURS)).toEqual(noticed(2))
    const toldAgain = { notices: 2, noticedAt: 72 * HOUR }
    expect(judgeFailing(failingFor(119.9, toldAgain), HOURS)).toBe(null)
    expect(judgeFailing(failingFor(120, toldAgain), HOURS)).toEqual(noticed(3))
    expect(judgeFailing(failingFor(999, { notices: 3, noticedAt: 120 * HOUR }), HOURS)).toBe(null)
  })

  it("leaves the time between two notices, however late the first one is", () => {
    const late = { notices: 1, noticedAt: 200 * HOUR }
    expect(judgeFailing(failingFor(247, late), HOURS)).toBe(null)
    expect(judgeFailing(failingFor(248, late), HOURS)).toEqual(noticed(2))
  })

  it("waits for a notice that is still to be sent", () => {
    expect(judgeFailing(failingFor(500, { notices: 1, noticedAt: 24 * HOUR, isPending: true }), HOURS)).toBe(null)
  })

  it("takes no time without calls for a failure", () => {
    expect(judgeFailing(failingFor(500, { lastFailedAt: null }), HOURS)).toBe(null)
    expect(judgeFailing(failingFor(500, { lastFailedAt: 2 * HOUR, answeredAt: HOUR }), HOURS)).toBe(null)
  })

  it("reports no partner while no call of the deployment gets a response", () => {
    expect(judgeFailing(failingFor(500, { answeredAt: null }), HOURS)).toBe(null)
    expect(judgeFailing(failingFor(500, { answeredAt: 500 * HOUR }), HOURS)).toBe(null)
    expect(judgeFailing(failingFor(500, { answeredAt: 475 * HOUR }), HOURS)).toBe(null)
    expect(judgeFailing(failingFor(500, { answeredAt: 476 * HOUR }), HOURS)).toEqual(noticed(1))
  })

  it("marks an endpoint that must not be disabled as failing, without a notice", () => {
    expect(judgeFailing(failingFor(500, { disableWhenFailing: false }), HOURS)).toEqual({
      ...noticed(1),
      isNotified: false,
    })
    const known = { disableWhenFailing: false, notices: 1, noticedAt: 0 }
    expect(judgeFailing(failingFor(500, known), HOURS)).toBe(null)
  })

  it("skips the steps that a deployment has switched off", () => {
    const off = { notice: null, reminder: null, disable: null }
    expect(judgeFailing(failingFor(9999), off)).toBe(null)
    expect(judgeFailing(failingFor(119), { ...off, disable: 120 })).toBe(null)
    expect(judgeFailing(failingFor(120), { ...off, disable: 120 })).toEqual(noticed(3))
    expect(nextNotice(1, { ...HOURS, reminder: null })).toBe(3)
    expect(nextNotice(1, { ...HOURS, reminder: null, disable: null })).toBe(null)
  })

  const hours = fc
    .uniqueArray(fc.integer({ min: 1, max: 500 }), { minLength: 3, maxLength: 3 })
    .map((each) => each.toSorted((a, b) => a - b))
    .chain(([notice, reminder, disable]) =>
      fc.record({
        notice: fc.constantFrom(notice!, null),
        reminder: fc.constantFrom(reminder!, null),
        disable: fc.constantFrom(disable!, null),
      }),
    )
  it("acts exactly at the time that noticeDueAt returns", () => {
    fc.assert(
      fc.property(hours, fc.integer({ min: 0, max: 2 }), fc.nat(10_000), (hours, notices, noticed) => {
        const next = nextNotice(notices, hours)
        fc.pre(next !== null)
        const state = { notices, noticedAt: notices === 0 ? null : noticed * HOUR }
        const at = noticeDueAt(0, state, next, hours) / HOUR
        expect(judgeFailing(failingFor(at - 0.01, state), hours)).toBe(null)
        expect(judgeFailing(failingFor(at, state), hours)).toMatchObject({ notices: next })
      }),
    )
  })
})
