import type { EventData, FunnelCounts, OutreachCounts, QuotaStatus } from "@outreach/contract"
import type { EventDraft } from "../events/Event.ts"
import type { ProgramId } from "../Identifier.ts"
import type { Program } from "../programs/Program.ts"
import type { Timestamp } from "../Timestamp.ts"

// Glossary. Date: a UTC calendar date; what was written belongs to the date of its transaction's stamp. Funnel: clinicians counted by
// stage of qualification, each once for a program and stage. Outreach: what events say of the date. Unique: a recipient counts once a
// date, however often it opened or clicked. Suspected: by a bot. Quota: how far a stage is from its target, at the end of the date.

/** A stage of qualification, by its name on the wire. */
export type FunnelStage = keyof FunnelCounts

/** A clinician who reached a stage of a program for the first time. */
export interface Qualification {
  readonly programId: ProgramId
  readonly stage: FunnelStage
}

/** A program's clinicians by stage up to now, its targets, and when it came to them; null without a target or below it. */
export interface Funnel {
  readonly programId: ProgramId
  readonly totals: FunnelCounts
  readonly learnerTarget: number | null
  readonly completerTarget: number | null
  readonly learnerReachedAt: Timestamp | null
  readonly completerReachedAt: Timestamp | null
}

/** When the completers of a program reached its target; null while they have not. */
export interface CompleterQuota {
  readonly programId: ProgramId
  readonly reachedAt: Timestamp | null
}

/** One program's date. */
export interface DigestRecord {
  readonly program: Program
  /** For the date, and up to its end. */
  readonly funnel: { readonly date: FunnelCounts; readonly cumulative: FunnelCounts }
  readonly outreach: OutreachCounts
  readonly quota: { readonly learner_qualified: QuotaStatus; readonly completer_qualified: QuotaStatus }
}

/** Adds clinicians to a funnel, and judges anew which targets are reached: a target that was raised since has yet to be reached. */
export const addToFunnel = (funnel: Funnel, added: FunnelCounts, at: Timestamp): Funnel => {
  const { totals, learnerTarget, completerTarget, learnerReachedAt, completerReachedAt } = funnel
  const reachedAt = (stage: FunnelStage, target: number | null, before: Timestamp | null) => {
    if (target === null || totals[stage] + added[stage] < target) return null
    return totals[stage] < target ? at : (before ?? at)
  }
  return {
    ...funnel,
    totals: {
      account_created: totals.account_created + added.account_created,
      learner_qualified: totals.learner_qualified + added.learner_qualified,
      completer_qualified: totals.completer_qualified + added.completer_qualified,
    },
    learnerReachedAt: reachedAt("learner_qualified", learnerTarget, learnerReachedAt),
    completerReachedAt: reachedAt("completer_qualified", completerTarget, completerReachedAt),
  }
}

/** Counts qualifications by stage. */
export const countByStage = (qualifications: ReadonlyArray<Qualification>): FunnelCounts => {
  const count = (stage: FunnelStage) => qualifications.filter((qualification) => qualification.stage === stage).length
  return {
    account_created: count("account_created"),
    learner_qualified: count("learner_qualified"),
    completer_qualified: count("completer_qualified"),
  }
}

/** Returns how far a stage is from its target; `reachedAt` is when the count came to it. */
export const quotaStatus = (target: number | null, count: number, reachedAt: Timestamp | null): QuotaStatus =>
  target === null
    ? { target, count, remaining: null, reached_at: null }
    : { target, count, remaining: Math.max(0, target - count), reached_at: count >= target ? reachedAt : null }

/** Counts the recipients that an event publishes. */
export const recipientsPublished = ({ type, data }: EventDraft): number =>
  type === "outreach.recipients_published" ? (data as EventData<typeof type>).recipients.length : 0

/** Reports whether an event is of a hit that a bot is suspected of. */
export const isBotSuspected = ({ type, data }: EventDraft): boolean =>
  (type === "outreach.email_opened" || type === "outreach.email_clicked") &&
  (data as EventData<typeof type>).is_bot_suspected
