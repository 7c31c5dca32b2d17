import { EVENTS, type EventData, type EventTypeOf } from "@outreach/contract"
import { Result } from "effect"
import type { CompleterQuota, FunnelStage } from "../digest/Digest.ts"
import type { ProgramId, RecipientId } from "../Identifier.ts"
import { EmailAddress, Npi } from "../recipients/Clinician.ts"
import type { WithdrawalReason } from "../suppressions/Suppression.ts"
import type { MatchedRecipient, Withdrawal } from "../suppressions/Withdrawals.ts"
import type { CommitTimestamp } from "../Transaction.ts"
import { parseInput } from "../textSchema.ts"
import type { QuarantinedEvent } from "./InboxRepository.ts"

/** A command to count a clinician, and to withdraw the matching recipients. */
export interface InboundCommand {
  readonly stage: FunnelStage
  readonly programSlug: string
  readonly npi: Npi
  /** The address suppressed together with the NPI; null if the event suppresses no one. */
  readonly email: EmailAddress | null
  /** Token of the recipient to which the partner attributes the event. */
  readonly token: string | null
}

/** An event's command, undefined for an unknown type, or the reason why the event is invalid. */
type ParseResult = Result.Result<InboundCommand | undefined, string>

const STAGES: Readonly<Record<EventTypeOf<"to_service">, FunnelStage>> = {
  "clinician.account_created": "account_created",
  "clinician.learner_qualified": "learner_qualified",
  "clinician.completer_qualified": "completer_qualified",
}

/** Event types that partners send; others are acknowledged and ignored. */
export const INBOUND_TYPES = Object.keys(STAGES) as ReadonlyArray<EventTypeOf<"to_service">>

const parseNpi = parseInput(Npi)
const parseEmail = parseInput(EmailAddress)

/** Creates the parser for a deployment's `livemode`. Its reasons name a field of the event without values. */
export const parseInboundEvent =
  (livemode: boolean) =>
  ({ type, body }: { readonly type: string; readonly body: string }): ParseResult => {
    const event = JSON.parse(body)
    if (event.livemode !== livemode) {
      return Result.fail(`livemode: the event is of ${livemode ? "a test" : "the production"} deployment`)
    }
    if (!isInbound(type)) return Result.succeed(undefined)
    const read = EVENTS[type].data.safeParse(event.data)
    if (!read.success) {
      const { path } = read.error.issues[0]!
      return Result.fail(`${["data", ...path].join(".")} is missing or not valid`)
    }
    const npi = parseNpi(read.data.npi)
    if (Result.isFailure(npi)) return Result.fail(`data.npi: ${npi.failure.reason}`)
    const account = type === "clinician.account_created" ? (read.data as EventData<typeof type>) : undefined
    const email = account === undefined ? null : parseEmail(account.email)
    if (email !== null && Result.isFailure(email)) return Result.fail(`data.email: ${email.failure.reason}`)
    return Result.succeed({
      stage: STAGES[type],
      programSlug: read.data.consumer_program_slug,
      npi: npi.success,
      email: email === null ? null : email.success,
      token: account?.attribution === "service_token" ? (account.token ?? null) : null,
    })
  }

const isInbound = (type: string): type is EventTypeOf<"to_service"> => Object.hasOwn(STAGES, type)

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
