import { Result } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { ProgramId, RecipientId } from "../../src/Identifier.ts"
import {
  deferBlockedClinicians,
  type InboundCommand,
  type InboundStep,
  reachedNow,
  toSteps,
  toWithdrawals,
} from "../../src/inbox/InboundStep.ts"
import type { Npi } from "../../src/recipients/Clinician.ts"
import { Timestamp } from "../../src/Timestamp.ts"
import type { CommitTimestamp } from "../../src/Transaction.ts"

const heart = "pgm_heart" as ProgramId
const command: InboundCommand = {
  stage: "learner_qualified",
  programSlug: "heart-failure",
  npi: "1" as Npi,
  email: null,
  token: null,
}
const step = (eventId: string, more: Partial<InboundStep> = {}): InboundStep => ({
  ...command,
  eventId,
  programId: heart,
  ...more,
})

describe("toSteps", () => {
  it("keeps commands for known programs, and the ids of events of unknown types", () => {
    const events = [
      { eventId: "evt_1", result: Result.succeed(command) },
      { eventId: "evt_2", result: Result.succeed(undefined) },
    ]
    expect(toSteps(events, new Map([["heart-failure", heart]]))).toEqual({
      steps: [step("evt_1")],
      ignored: ["evt_2"],
      quarantined: [],
    })
  })

  it("quarantines an event that is not valid with its own reason, and one of an unknown program", () => {
    const events = [
      { eventId: "evt_1", result: Result.fail("data.npi is missing or not valid") },
      { eventId: "evt_2", result: Result.succeed(command) },
    ]
    expect(toSteps(events, new Map([["diabetes", heart]]))).toEqual({
      steps: [],
      ignored: [],
      quarantined: [
        { eventId: "evt_1", reason: "data.npi is missing or not valid" },
        { eventId: "evt_2", reason: "data.consumer_program_slug names no program of the organization" },
      ],
    })
  })
})

const stage = fc.constantFrom("account_created", "learner_qualified", "completer_qualified")
const programId = fc.constantFrom("pgm_heart", "pgm_lungs").map((id) => id as ProgramId)
const batches = fc
  .array(fc.record({ npi: fc.constantFrom("1", "2", "3", "4").map((npi) => npi as Npi), stage, programId }), {
    maxLength: 12,
  })
  .map((steps) => steps.map((more, i) => step(`evt_${i}`, more)))
const recipient = fc.constantFrom("rcp_1", "rcp_2", "rcp_3").map((id) => id as RecipientId)
/** Steps, the matching recipients in step order, and those with a message in flight. */
const cases = batches.chain((steps) =>
  fc.record({
    steps: fc.constant(steps),
    matches: fc
      .array(fc.uniqueArray(recipient), { minLength: steps.length, maxLength: steps.length })
      .map((ids) => steps.flatMap((clinician, i) => ids[i]!.map((id) => ({ id, clinician })))),
    inFlight: fc.uniqueArray(recipient).map((ids) => new Set(ids)),
  }),
)

it("deferBlockedClinicians keeps a step exactly if neither it nor an earlier one of its clinician matches a message in flight", () =>
  fc.assert(
    fc.property(cases, ({ steps, matches, inFlight }) => {
      const isBlocked = (each: InboundStep) =>
        matches.some(({ id, clinician }) => clinician === each && inFlight.has(id))
      expect(deferBlockedClinicians(steps, matches, inFlight)).toEqual(
        steps.filter(({ npi }, i) => !steps.slice(0, i + 1).some((each) => each.npi === npi && isBlocked(each))),
      )
    }),
  ))

it("toWithdrawals withdraws each recipient who matches once, for its first step", () =>
  fc.assert(
    fc.property(cases, ({ steps, matches, inFlight }) => {
      const ready = deferBlockedClinicians(steps, matches, inFlight)
      const withdrawals = toWithdrawals(ready, matches)
      const matched = new Set(matches.filter(({ clinician }) => ready.includes(clinician)).map(({ id }) => id))
      expect(new Set(withdrawals.map(({ id }) => id))).toEqual(matched)
      expect(withdrawals.length).toBe(matched.size)
      for (const { id, reason } of withdrawals) {
        const first = ready.find((each) => matches.some((match) => match.id === id && match.clinician === each))!
        expect(reason).toBe(first.stage === "account_created" ? "suppressed" : first.stage)
      }
    }),
  ))

it("reachedNow returns the programs that reached their quota in this transaction, and none that did before or have not", () => {
  const at = "2026-11-21T02:45:29.123456Z" as CommitTimestamp
  const quotas = [
    { programId: heart, reachedAt: at },
    { programId: "pgm_before" as ProgramId, reachedAt: Timestamp.make("2026-11-21T02:45:29.123455Z") },
    { programId: "pgm_open" as ProgramId, reachedAt: null },
  ]
  expect(reachedNow(quotas, at)).toEqual([heart])
})
