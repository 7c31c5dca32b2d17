import { eventExamples } from "@outreach/contract"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  addToFunnel,
  countByStage,
  type Funnel,
  isBotSuspected,
  quotaStatus,
  recipientsPublished,
} from "../../src/digest/Digest.ts"
import type { EventDraft, OutreachEventType } from "../../src/events/Event.ts"
import type { ProgramId } from "../../src/Identifier.ts"
import { Timestamp } from "../../src/Timestamp.ts"

const REACHED = Timestamp.make("2026-11-20T10:00:00.000000Z")

describe("quotaStatus", () => {
  it("is nulls and a count without a target", () => {
    expect(quotaStatus(null, 3, REACHED)).toEqual({ target: null, count: 3, remaining: null, reached_at: null })
  })

  it("never has a negative remainder, and is reached exactly when the remainder is zero", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.nat({ max: 40 }), (target, count) => {
        const { remaining, reached_at } = quotaStatus(target, count, REACHED)
        expect(remaining).toBe(count > target ? 0 : target - count)
        expect(reached_at).toBe(remaining === 0 ? REACHED : null)
      }),
    )
  })
})

describe("a program's funnel", () => {
  const NOW = Timestamp.make("2026-11-21T10:00:00.000000Z")
  const counts = (account_created: number, learner_qualified: number, completer_qualified: number) => ({
    account_created,
    learner_qualified,
    completer_qualified,
  })
  const funnel = (changes: Partial<Funnel>): Funnel => ({
    programId: "pgm_01KAJ0000000000000000000000" as ProgramId,
    totals: counts(9, 5, 2),
    learnerTarget: null,
    completerTarget: null,
    learnerReachedAt: null,
    completerReachedAt: null,
    ...changes,
  })

  it("counts qualifications by stage, and adds them to the totals", () => {
    const stages = ["completer_qualified", "learner_qualified", "learner_qualified"] as const
    const added = countByStage(stages.map((stage) => ({ programId: funnel({}).programId, stage })))
    expect(added).toEqual(counts(0, 2, 1))
    expect(addToFunnel(funnel({}), added, NOW).totals).toEqual(counts(9, 7, 3))
  })

  it.each<[string, number | null, number, Timestamp | null, Timestamp | null]>([
    ["is reached by the clinician that makes it full", 3, 1, null, NOW],
    ["stays reached since it first was", 2, 1, REACHED, REACHED],
    ["is not reached by fewer", 4, 1, null, null],
    ["is not reached without a target", null, 1, null, null],
    ["that is lowered is reached now, if the total is there already", 2, 0, null, NOW],
    ["that is raised has yet to be reached", 3, 0, REACHED, null],
    ["that was raised is reached anew, whatever was reached before", 3, 1, REACHED, NOW],
  ])("has a target that %s", (_, completerTarget, completers, completerReachedAt, expected) => {
    const { completerReachedAt: reachedAt } = addToFunnel(
      funnel({ completerTarget, completerReachedAt }),
      counts(0, 0, completers),
      NOW,
    )
    expect(reachedAt).toBe(expected)
  })

  it("has a target of learners that is judged by the learners", () => {
    const { learnerReachedAt, completerReachedAt } = addToFunnel(funnel({ learnerTarget: 6 }), counts(0, 1, 5), NOW)
    expect({ learnerReachedAt, completerReachedAt }).toEqual({ learnerReachedAt: NOW, completerReachedAt: null })
  })
})

describe("the digest's count of an event", () => {
  const draft = (type: OutreachEventType, data: object = eventExamples[type].data) => ({ type, data }) as EventDraft

  it("is each recipient that it publishes, and none of other events", () => {
    expect(recipientsPublished(draft("outreach.recipients_published", { recipients: [{}, {}, {}] }))).toBe(3)
    expect(recipientsPublished(draft("outreach.email_sent"))).toBe(0)
  })

  it("includes bot suspicions only for opens and clicks", () => {
    for (const type of ["outreach.email_opened", "outreach.email_clicked"] as const) {
      expect(isBotSuspected(draft(type, { is_bot_suspected: true }))).toBe(true)
      expect(isBotSuspected(draft(type, { is_bot_suspected: false }))).toBe(false)
    }
    expect(isBotSuspected(draft("outreach.email_sent", { is_bot_suspected: true }))).toBe(false)
  })
})
