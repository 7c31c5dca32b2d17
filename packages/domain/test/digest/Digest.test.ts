import { eventExamples } from "@outreach/contract"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isBotSuspected, quotaStatus, recipientsPublished } from "../../src/digest/Digest.ts"
import type { EventDraft, OutreachEventType } from "../../src/events/Event.ts"

const REACHED = "2026-11-20T10:00:00.000000Z"

describe("quotaStatus", () => {
  it("is nulls and a count without a target", () => {
    expect(quotaStatus(null, 3, REACHED)).toEqual({ target: null, count: 3, remaining: null, reached_at: null })
  })

  it("never has less than nothing remaining, and was reached exactly when nothing remains", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.nat({ max: 40 }), (target, count) => {
        const { remaining, reached_at } = quotaStatus(target, count, REACHED)
        expect(remaining).toBe(count > target ? 0 : target - count)
        expect(reached_at).toBe(remaining === 0 ? REACHED : null)
      }),
    )
  })
})

describe("what the digest counts of an event", () => {
  const draft = (type: OutreachEventType, data: object = eventExamples[type].data) => ({ type, data }) as EventDraft

  it("is each recipient that it publishes, and none of other events", () => {
    expect(recipientsPublished(draft("outreach.recipients_published", { recipients: [{}, {}, {}] }))).toBe(3)
    expect(recipientsPublished(draft("outreach.email_sent"))).toBe(0)
  })

  it("is suspected of hits alone", () => {
    for (const type of ["outreach.email_opened", "outreach.email_clicked"] as const) {
      expect(isBotSuspected(draft(type, { is_bot_suspected: true }))).toBe(true)
      expect(isBotSuspected(draft(type, { is_bot_suspected: false }))).toBe(false)
    }
    expect(isBotSuspected(draft("outreach.email_sent", { is_bot_suspected: true }))).toBe(false)
  })
})
