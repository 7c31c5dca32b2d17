import * as z from "zod"
import type * as wire from "../types.d.ts"
import { Livemode, ProgramSummary } from "./campaigns.ts"
import type { Schema } from "./Schema.ts"
import { CalendarDate, Timestamp } from "./times.ts"

const count = z.int().min(0)

export const FunnelCounts: Schema<FunnelCounts> = z
  .object({ account_created: count, learner_qualified: count, completer_qualified: count })
  .meta({ id: "FunnelCounts", description: "Clinicians counted by stage of qualification." })
export type FunnelCounts = wire.FunnelCounts

const unique = count.meta({ description: "Recipients of the date: one who comes back on the next counts there too." })
const engagement = { opened: count, clicked: count, unique_opened: unique, unique_clicked: unique }

/** Outreach counts of one date. */
export const OutreachCounts: Schema<OutreachCounts> = z
  .object({
    recipients_published: count,
    sent: count,
    bounced: count,
    ...engagement,
    without_suspected_bots: z.object(engagement).meta({ description: "The same without hits suspected to be bots." }),
  })
  .meta({
    id: "OutreachCounts",
    description: "The outreach of one date: its events by `emitted_at`, in UTC.",
  })
export type OutreachCounts = wire.OutreachCounts

/** Progress of one program stage towards its target. */
export const QuotaStatus: Schema<QuotaStatus> = z
  .object({ target: count.nullable(), count: count, remaining: count.nullable(), reached_at: Timestamp.nullable() })
  .meta({
    id: "QuotaStatus",
    description:
      "How far one stage of a program is from its target, at the end of the date; all but `count` are null without a target.",
  })
export type QuotaStatus = wire.QuotaStatus

export const DigestRecord: Schema<DigestRecord> = z
  .object({
    object: z.literal("digest_record"),
    livemode: Livemode,
    date: CalendarDate,
    program: ProgramSummary,
    funnel: z
      .object({ date: FunnelCounts, cumulative: FunnelCounts })
      .meta({ description: "For the date, and up to its end." }),
    outreach: OutreachCounts,
    quota: z.object({ learner_qualified: QuotaStatus, completer_qualified: QuotaStatus }),
  })
  .meta({ id: "DigestRecord", description: "One program's day." })
export type DigestRecord = wire.DigestRecord

export const Digest: Schema<Digest> = z
  .object({ object: z.literal("digest"), livemode: Livemode, date: CalendarDate, data: z.array(DigestRecord) })
  .meta({ id: "Digest", description: "One UTC day of every partner-bound program of the caller's organization." })
export type Digest = wire.Digest

export const DigestQuery = z.strictObject({ date: CalendarDate })
