import { Schema, Struct } from "effect"
import { CampaignId, OrganizationId, ProgramId, RecipientId } from "../Identifier.ts"
import { MessageTemplate } from "../mail/Message.ts"
import { MailFailure } from "../mail/Transport.ts"
import { Timestamp } from "../Timestamp.ts"

export const CAMPAIGN_STATUSES = [
  "draft",
  "scheduled",
  "publishing",
  "published",
  "sending",
  "completed",
  "paused",
  "cancelled",
] as const

export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number]

/** Maximum e-mails per minute of a campaign. */
export const MAX_RATE = 1_000_000

/** Identifies a campaign in every table. */
export const CampaignKey = Schema.Struct({ organizationId: OrganizationId, campaignId: CampaignId })
export type CampaignKey = typeof CampaignKey.Type

/** An e-mail to a list of recipients, sent within a time window. */
export const Campaign = Schema.Struct({
  organizationId: OrganizationId,
  id: CampaignId,
  programId: ProgramId,
  name: Schema.String,
  /** Only traffic campaigns are forwarded as webhooks and appear in the feed. */
  kind: Schema.Literals(["traffic", "survey"]),
  status: Schema.Literals(CAMPAIGN_STATUSES),
  ...Struct.pick(MessageTemplate.fields, ["subject", "preheader", "html", "text", "shortLink", "fields"]),
  /** Maximum e-mails per minute; null for unlimited. */
  perMinute: Schema.NullOr(Schema.Int),
  /** Messages are sent from the start (inclusive) to the end (exclusive). */
  windowStart: Timestamp,
  windowEnd: Timestamp,
  /** Whether a worker pauses it when its complaints reach the upper threshold of `COMPLAINT_THRESHOLDS`. */
  pauseOnComplaints: Schema.Boolean,
  /** Time of pausing or cancelling; null otherwise. */
  stoppedAt: Schema.NullOr(Timestamp),
  /** The operator who stopped it, or `a worker`; null if it wasn't requested, as after a restore. */
  stoppedBy: Schema.NullOr(Schema.String),
  stopReason: Schema.NullOr(Schema.String),
  /** The last time that an operator changed it: the version for concurrent changes. */
  editedAt: Timestamp,
  /** When the mail server accepted a test message with the current content; null if none was sent. */
  testedAt: Schema.NullOr(Timestamp),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type Campaign = typeof Campaign.Type

export const ListedCampaign = Schema.Struct(Struct.omit(Campaign.fields, ["html", "text"]))
export type ListedCampaign = typeof ListedCampaign.Type

/** Who pauses or cancels a campaign, and why. */
export type Stop = Pick<Campaign, "stoppedBy" | "stopReason">

/** A campaign as shown in its summary and events. */
export const CampaignSummary = Schema.Struct(
  Struct.omit(Campaign.fields, [
    ...(["subject", "preheader", "html", "text", "shortLink", "fields", "perMinute"] as const),
    ...(["pauseOnComplaints", "stoppedAt", "stoppedBy", "stopReason", "editedAt", "testedAt"] as const),
  ]),
)
export type CampaignSummary = typeof CampaignSummary.Type

/** Operator commands: allowed statuses, and the resulting status. */
export const TRANSITIONS = {
  schedule: { from: ["draft", "paused"], to: "scheduled" },
  resume: { from: ["paused"], to: "scheduled" },
  pause: { from: ["scheduled", "publishing", "published", "sending"], to: "paused" },
  cancel: { from: ["draft", "scheduled", "publishing", "published", "sending", "paused"], to: "cancelled" },
} as const satisfies Record<string, { from: ReadonlyArray<CampaignStatus>; to: CampaignStatus }>

export type Command = keyof typeof TRANSITIONS

/** Commands that start publishing and sending. */
export type Scheduling = "schedule" | "resume"

/** The worker's own transitions, in the same form. */
export const WORKER_TRANSITIONS = {
  publish: { from: ["scheduled", "publishing"], to: "publishing" },
  finishPublishing: { from: ["scheduled", "publishing"], to: "published" },
  open: { from: ["published"], to: "sending" },
  complete: { from: ["sending"], to: "completed" },
} as const satisfies Record<string, { from: ReadonlyArray<CampaignStatus>; to: CampaignStatus }>

/** Returns the status after a publication: `published` after the last recipients were read and announced. */
export const statusAfterPublication = (count: Record<"limit" | "read" | "announced", number>): CampaignStatus => {
  const isLast = count.read < count.limit && count.announced === count.read
  return (isLast ? WORKER_TRANSITIONS.finishPublishing : WORKER_TRANSITIONS.publish).to
}

/** Statuses of campaigns that send nothing more. */
export const CLOSED: ReadonlyArray<CampaignStatus> = ["completed", "cancelled"]

/** Statuses in which the worker publishes or sends, or will. */
export const UNDER_WAY: ReadonlyArray<CampaignStatus> = TRANSITIONS.pause.from

/** Statuses in which recipients may be added: the campaign is not scheduled yet, so that no import misses its publication. */
export const IMPORTABLE: ReadonlyArray<CampaignStatus> = TRANSITIONS.schedule.from

/** Progress of a campaign, in recipients. */
export const CampaignProgress = Schema.Struct({
  recipients: Schema.Int,
  published: Schema.Int,
  queued: Schema.Int,
  /** Queued, and deferred by their mailboxes at least once. */
  deferred: Schema.Int,
  /** Queued, and sent at least once without a response. */
  unknown: Schema.Int,
  /** Sent several times without a response; not retried. */
  quarantined: Schema.Int,
  withdrawn: Schema.Int,
  sent: Schema.Int,
  sentInLastMinute: Schema.Int,
  /** Rejected immediately, or returned after they were sent. */
  bounced: Schema.Int,
  /** Rejected after they were sent, without a hard bounce. */
  refusedLater: Schema.Int,
  /** Recipients who reported their message as unwanted. */
  complained: Schema.Int,
  /** Recipients who unsubscribed and didn't undo it. */
  unsubscribed: Schema.Int,
  /** Recipients with a decision of the mail server: sent or bounced. */
  answered: Schema.Int,
})
export type CampaignProgress = typeof CampaignProgress.Type

/** Counts recipients who weren't sent to, bounced, withdrawn or quarantined. */
export const countUnsent = ({ recipients, withdrawn, quarantined, answered }: CampaignProgress): number =>
  Math.max(0, recipients - withdrawn - quarantined - answered)

/** Reasons why messages of a campaign weren't sent in their last attempt, if caused by us or the mail server. */
export const CampaignFailure = Schema.Struct({ ...MailFailure.fields, messages: Schema.Int })
export type CampaignFailure = typeof CampaignFailure.Type

/** A message with unknown outcome that isn't retried. */
export const QuarantinedMessage = Schema.Struct({
  ...MailFailure.fields,
  /** Left-hand side of its Message-ID. */
  recipientId: RecipientId,
  token: Schema.String,
  unknownOutcomes: Schema.Int,
  quarantinedAt: Timestamp,
})
export type QuarantinedMessage = typeof QuarantinedMessage.Type

/** A recipient domain that a campaign pauses because it rejected us. */
export const DomainPause = Schema.Struct({
  domain: Schema.String,
  /** Codes of the rejection. */
  status: Schema.String,
  until: Timestamp,
})
export type DomainPause = typeof DomainPause.Type

/**
 * Maximum share of accepted messages reported as unwanted, as published by mailbox providers (quoted in November 2026):
 * - Google, Email sender guidelines, https://support.google.com/a/answer/81126: "Keep spam rates reported in Postmaster Tools below 0.10% and avoid
 *   ever reaching a spam rate of 0.30% or higher". In force since February 2024.
 * - Yahoo, Sender Hub, https://senders.yahooinc.com/best-practices/: below 0.3 %. Its Insights show 0.1 % as the threshold of a warning.
 *
 * Providers divide by the messages in the inbox, and report only some complaints: their rates are higher than ours.
 */
export const COMPLAINT_THRESHOLDS = { lower: 0.001, upper: 0.003 } as const

/** Fewer complaints aren't significant, however high their share of a small campaign is. */
export const MIN_COMPLAINTS = 3

/** Levels of a campaign's complaints, with their labels. */
export const COMPLAINT_LEVELS = {
  low: "below 0.1 %",
  few: `fewer than ${MIN_COMPLAINTS}, too few to judge`,
  raised: "0.1 % or more, which mailbox providers warn of",
  high: "0.3 % or more, where mailbox providers treat the sender as a spammer",
} as const
export type ComplaintLevel = keyof typeof COMPLAINT_LEVELS

/** Returns the share of accepted messages; null if there are none. */
export const shareOfSent = (count: number, { sent }: { readonly sent: number }): number | null =>
  sent > 0 ? count / sent : null

export const complaintLevel = (counts: { readonly sent: number; readonly complained: number }): ComplaintLevel => {
  const rate = shareOfSent(counts.complained, counts) ?? 0
  if (rate < COMPLAINT_THRESHOLDS.lower) return "low"
  if (counts.complained < MIN_COMPLAINTS) return "few"
  return rate < COMPLAINT_THRESHOLDS.upper ? "raised" : "high"
}
