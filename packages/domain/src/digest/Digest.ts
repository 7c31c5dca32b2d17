import type { EventData, QuotaStatus } from "@outreach/contract"
import { Schema } from "effect"
import type { EventDraft } from "../events/Event.ts"
import { ProgramId } from "../Identifier.ts"
import { Program } from "../programs/Program.ts"
import { Timestamp } from "../Timestamp.ts"

// Glossary. Date: a UTC calendar date; what was written belongs to the date of its transaction's stamp. Funnel: clinicians counted by
// stage of qualification, each once for a program and stage. Outreach: what events say of the date. Unique: a recipient counts once a
// date, however often it opened or clicked. Suspected: by a bot. Quota: how far a stage is from its target, at the end of the date.

/** Clinicians counted by stage of qualification, by the names of the wire. */
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

/** Events counted by type, by the names of the wire. */
export const OutreachCounts = Schema.Struct({
  recipients_published: Schema.Int,
  sent: Schema.Int,
  bounced: Schema.Int,
  ...hits,
  without_suspected_bots: Schema.Struct(hits),
})
export type OutreachCounts = typeof OutreachCounts.Type

/** A clinician who reached a stage of a program for the first time. */
export interface Qualification {
  readonly programId: ProgramId
  readonly stage: FunnelStage
}

/** A program's clinicians by stage up to now, its targets, and when it came to them; null without a target or below it. */
export const Funnel = Schema.Struct({
  programId: ProgramId,
  totals: FunnelCounts,
  learnerTarget: Program.fields.learnerTarget,
  completerTarget: Program.fields.completerTarget,
  learnerReachedAt: Schema.NullOr(Timestamp),
  completerReachedAt: Schema.NullOr(Timestamp),
})
export type Funnel = typeof Funnel.Type

/** When the completers of a program reached its target; null while they have not. */
export interface CompleterQuota {
  readonly programId: ProgramId
  readonly reachedAt: Timestamp | null
}

/** One program's date: its funnel for the date, and up to its end. */
export interface DigestRecord {
  readonly program: Program
  readonly funnel: { readonly date: FunnelCounts; readonly cumulative: FunnelCounts }
  readonly outreach: OutreachCounts
  readonly quota: { readonly learner_qualified: QuotaStatus; readonly completer_qualified: QuotaStatus }
}

/** Counts each stage by a function of its name. */
export const byStage = <A>(of: (stage: FunnelStage) => A): Readonly<Record<FunnelStage, A>> => ({
  account_created: of("account_created"),
  learner_qualified: of("learner_qualified"),
  completer_qualified: of("completer_qualified"),
})

/** Adds clinicians to a funnel, and judges anew which targets are reached: a target that was raised since has yet to be reached. */
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

/** Returns how far a stage is from its target; `reachedAt` is when the count came to it. */
export const quotaStatus = (
  target: number | null,
  count: number,
  reachedAt: Timestamp | null,
): QuotaStatus & { readonly reached_at: Timestamp | null } =>
  target === null
    ? { target, count, remaining: null, reached_at: null }
    : { target, count, remaining: Math.max(0, target - count), reached_at: count >= target ? reachedAt : null }

export const recipientsPublished = ({ type, data }: EventDraft): number =>
  type === "outreach.recipients_published" ? (data as EventData<typeof type>).recipients.length : 0

export const isBotSuspected = ({ type, data }: EventDraft): boolean =>
  (type === "outreach.email_opened" || type === "outreach.email_clicked") &&
  (data as EventData<typeof type>).is_bot_suspected
