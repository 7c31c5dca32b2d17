import type { EventData, FunnelCounts, OutreachCounts, QuotaStatus } from "@outreach/contract"
import type { EventDraft } from "../events/Event.ts"
import type { ProgramId } from "../Identifier.ts"
import type { Program } from "../programs/Program.ts"
import type { Timestamp } from "../Timestamp.ts"

// Glossary. Date: a UTC calendar date; what was written belongs to the date of its transaction's stamp. Funnel: clinicians counted by
// stage of qualification, each once for a program and stage. Outreach: what events say of the date. Unique: a recipient counts once a
// date, however often it opened or clicked. Suspected: by a bot. Quota: how far a stage is from its target, at the end of the date.

/** A UTC calendar date, `2026-11-20`; two of them compare as texts. */
export type CalendarDate = string

/** A stage of qualification, by its name on the wire. */
export type FunnelStage = keyof FunnelCounts

/** A clinician who reached a stage of a program for the first time. */
export interface Qualification {
  readonly programId: ProgramId
  readonly stage: FunnelStage
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
