import { Result } from "effect"
import type { CompleterQuota } from "../digest/Digest.ts"
import type { ProgramId, RecipientId } from "../Identifier.ts"
import type { WithdrawalReason } from "../suppressions/Suppression.ts"
import type { MatchedRecipient, Withdrawal } from "../suppressions/SuppressionRepository.ts"
import type { CommitTimestamp } from "../Transaction.ts"
import type { QuarantinedEvent } from "./InboxRepository.ts"
import type { InboundCommand, ParseResult } from "./parseInboundEvent.ts"

/** An event with a command for one of the organization's programs. */
export interface InboundStep extends InboundCommand {
  readonly eventId: string
  readonly programId: ProgramId
}

/** Sorts events into steps, ignored and quarantined ones, given the programs by slug. */
export const toSteps = (
  events: ReadonlyArray<{ readonly eventId: string; readonly result: ParseResult }>,
  programs: ReadonlyMap<string, ProgramId>,
) => {
  const steps: Array<InboundStep> = []
  const ignored: Array<string> = []
  const quarantined: Array<QuarantinedEvent> = []
  for (const { eventId, result } of events) {
    if (Result.isFailure(result)) quarantined.push({ eventId, reason: result.failure })
    else if (result.success === undefined) ignored.push(eventId)
    else {
      const programId = programs.get(result.success.programSlug)
      if (programId !== undefined) steps.push({ ...result.success, eventId, programId })
      else quarantined.push({ eventId, reason: "data.consumer_program_slug names no program of the organization" })
    }
  }
  return { steps, ignored, quarantined }
}

/** Excludes steps that match a recipient with a message in flight, and all later steps of their clinicians. */
export const deferBlockedClinicians = (
  steps: ReadonlyArray<InboundStep>,
  matches: ReadonlyArray<MatchedRecipient<InboundStep>>,
  inFlight: ReadonlySet<RecipientId>,
): ReadonlyArray<InboundStep> => {
  const blocked = new Set(matches.filter(({ id }) => inFlight.has(id)).map(({ clinician }) => clinician))
  const waiting = new Set<string>()
  return steps.filter((step) => {
    if (blocked.has(step)) waiting.add(step.npi)
    return !waiting.has(step.npi)
  })
}

/** Returns the recipients that steps withdraw, each for its first match in step order. */
export const toWithdrawals = (
  steps: ReadonlyArray<InboundStep>,
  matches: ReadonlyArray<MatchedRecipient<InboundStep>>,
): ReadonlyArray<Withdrawal> => {
  const reasons = new Map<RecipientId, WithdrawalReason>()
  for (const { id, clinician } of matches) {
    if (!steps.includes(clinician) || reasons.has(id)) continue
    reasons.set(id, clinician.stage === "account_created" ? "suppressed" : clinician.stage)
  }
  return [...reasons].map(([id, reason]) => ({ id, reason }))
}

/** Returns the programs that reached their target of completers in this timestamp's transaction. */
export const reachedNow = (quotas: ReadonlyArray<CompleterQuota>, at: CommitTimestamp): ReadonlyArray<ProgramId> =>
  quotas.filter(({ reachedAt }) => reachedAt === at).map(({ programId }) => programId)
