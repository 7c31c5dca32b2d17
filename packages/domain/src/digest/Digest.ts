import type { EventData, QuotaStatus } from "@outreach/contract"
import { Context, type Effect, Schema, Struct } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { type EventDraft, recipientsOf } from "../events/Event.ts"
import { OUTGOING_EVENTS } from "../events/outgoingEvents.ts"
import { type OrganizationId, ProgramId } from "../Identifier.ts"
import { Program } from "../programs/Program.ts"
import type { Npi } from "../recipients/Clinician.ts"
import { Timestamp } from "../Timestamp.ts"
import type { CommitTimestamp } from "../Transaction.ts"

// Glossary. Date: a UTC calendar date; data belongs to the date of its transaction's stamp. Funnel: clinicians counted by
// qualification stage, each once per program and stage. Outreach: counts of a date's events. Unique: a recipient counts once per
// date, however often it opened or clicked. Suspected: by a bot. Quota: progress of a stage towards its target at the end of the date.

/** Dates that don't exist, such as 2026-02-30, are read as later dates. */
const isCalendarDate = (text: string): boolean => {
  const at = /^(?!0000)\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}

/** An existing UTC calendar date, `2026-11-20`; dates can be compared as text. Without the contract's schema, which `ops` doesn't load. */
export const CalendarDate = Schema.String.check(Schema.makeFilter(isCalendarDate)).pipe(
  Schema.annotate({ expected: "a date that exists, such as 2026-11-20" }),
  Schema.brand("CalendarDate"),
)
export type CalendarDate = typeof CalendarDate.Type

export const dateAt = (millis: number): CalendarDate => new Date(millis).toISOString().slice(0, 10) as CalendarDate

export const addDays = (date: CalendarDate, days: number): CalendarDate => dateAt(Date.parse(date) + days * 86_400_000)

/** Clinicians by qualification stage, with the wire names. */
export const FunnelCounts = Schema.Struct({
  account_created: Schema.Int,
  learner_qualified: Schema.Int,
  completer_qualified: Schema.Int,
})
export type FunnelCounts = typeof FunnelCounts.Type
export type FunnelStage = keyof FunnelCounts

const hits = {
  opened: Schema.Int,
  clicked: Schema.Int,
  unique_opened: Schema.Int,
  unique_clicked: Schema.Int,
}

/** Events by type, with the wire names. */
export const OutreachCounts = Schema.Struct({
  recipients_published: Schema.Int,
  sent: Schema.Int,
  bounced: Schema.Int,
  ...hits,
  without_suspected_bots: Schema.Struct(hits),
})
export type OutreachCounts = typeof OutreachCounts.Type

/** A clinician who reached a program's stage for the first time. */
export const Qualification = Schema.Struct({
  programId: ProgramId,
  stage: Schema.Literals(Struct.keys(FunnelCounts.fields)),
})
export type Qualification = typeof Qualification.Type

/** A program's clinicians by stage until now, its targets, and when they were reached; null without a target or below it. */
export const Funnel = Schema.Struct({
  programId: ProgramId,
  totals: FunnelCounts,
  learnerTarget: Program.fields.learnerTarget,
  completerTarget: Program.fields.completerTarget,
  learnerReachedAt: Schema.NullOr(Timestamp),
  completerReachedAt: Schema.NullOr(Timestamp),
})
export type Funnel = typeof Funnel.Type

/** When a program's completers reached its target; null if they haven't. */
export interface CompleterQuota {
  readonly programId: ProgramId
  readonly reachedAt: Timestamp | null
}

/** A program's date: its funnel for the date, and cumulative to its end. */
export interface DigestRecord {
  readonly program: Program
  readonly funnel: { readonly date: FunnelCounts; readonly cumulative: FunnelCounts }
  readonly outreach: OutreachCounts
  readonly quota: { readonly learner_qualified: QuotaStatus; readonly completer_qualified: QuotaStatus }
}

/** Creates a record with a value for each stage. */
export const byStage = <A>(of: (stage: FunnelStage) => A): Readonly<Record<FunnelStage, A>> => ({
  account_created: of("account_created"),
  learner_qualified: of("learner_qualified"),
  completer_qualified: of("completer_qualified"),
})

/** Adds clinicians to a funnel and updates the reached targets: a raised target must be reached again. */
export const addToFunnel = (funnel: Funnel, added: FunnelCounts, at: Timestamp): Funnel => {
  const { totals, learnerTarget, completerTarget, learnerReachedAt, completerReachedAt } = funnel
  const reachedAt = (stage: FunnelStage, target: number | null, before: Timestamp | null) => {
    if (target === null || totals[stage] + added[stage] < target) return null
    return totals[stage] < target ? at : (before ?? at)
  }
  return {
    ...funnel,
    totals: byStage((stage) => totals[stage] + added[stage]),
    learnerReachedAt: reachedAt("learner_qualified", learnerTarget, learnerReachedAt),
    completerReachedAt: reachedAt("completer_qualified", completerTarget, completerReachedAt),
  }
}

export const countByStage = (qualifications: ReadonlyArray<Qualification>): FunnelCounts =>
  byStage((stage) => qualifications.filter((qualification) => qualification.stage === stage).length)

/** Returns a stage's progress; `reachedAt` is when the target was reached. */
export const quotaStatus = (
  target: number | null,
  count: number,
  reachedAt: Timestamp | null,
): QuotaStatus & { readonly reached_at: Timestamp | null } =>
  target === null
    ? { target, count, remaining: null, reached_at: null }
    : { target, count, remaining: Math.max(0, target - count), reached_at: count >= target ? reachedAt : null }

export const recipientsPublished = (event: EventDraft): number =>
  event.type === "outreach.recipients_published" ? recipientsOf(event).length : 0

export const isBotSuspected = ({ type, data }: EventDraft): boolean =>
  OUTGOING_EVENTS[type].isHit && (data as EventData<"outreach.email_opened">).is_bot_suspected

export class DateInFuture extends DescribedError("DateInFuture", "{date} has not begun yet (UTC).") {}

export class DigestRepository extends Context.Service<
  DigestRepository,
  {
    /**
     * Counts each clinician once per program and stage, on the date of the timestamp.
     *
     * Returns the quotas of programs with a new clinician.
     */
    countQualifications(
      organizationId: OrganizationId,
      qualifications: ReadonlyArray<Qualification & { readonly npi: Npi; readonly eventId: string }>,
      at: CommitTimestamp,
    ): Effect.Effect<ReadonlyArray<CompleterQuota>>
    findQualified(
      organizationId: OrganizationId,
      programId: ProgramId,
      npis: ReadonlyArray<string>,
      stages: ReadonlyArray<FunnelStage>,
    ): Effect.Effect<ReadonlySet<string>>
    /** Reads a date of every program of an organization, oldest program first. The cost doesn't depend on the counted events. */
    read(organizationId: OrganizationId, date: CalendarDate): Effect.Effect<ReadonlyArray<DigestRecord>, DateInFuture>
  }
>()("domain/digest/DigestRepository") {}
