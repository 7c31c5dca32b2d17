import { Schema, Struct } from "effect"
import { CampaignId, OrganizationId, ProgramId, RecipientId } from "../Identifier.ts"
import { MailFailure } from "../mail/Mailer.ts"
import { MessageTemplate } from "../mail/Message.ts"
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

/** The most e-mails of a campaign that may go out in a minute. */
export const MAX_RATE = 1_000_000

/** What names a campaign in every table. */
export interface CampaignKey {
  readonly organizationId: OrganizationId
  readonly campaignId: CampaignId
}

/** An e-mail to a list of recipients, sent inside a window of time. */
export const Campaign = Schema.Struct({
  organizationId: OrganizationId,
  id: CampaignId,
  programId: ProgramId,
  name: Schema.String,
  /** Only traffic campaigns are forwarded as webhooks and appear in the feed. */
  kind: Schema.Literals(["traffic", "survey"]),
  status: Schema.Literals(CAMPAIGN_STATUSES),
  ...Struct.pick(MessageTemplate.fields, ["subject", "html", "text", "shortLink", "fields"]),
  /** How many e-mails go out in a minute at most; null for no bound of its own. */
  perMinute: Schema.NullOr(Schema.Int),
  /** Messages go out from the start, inclusive, to the end, exclusive. */
  windowStart: Timestamp,
  windowEnd: Timestamp,
  /** Whether a worker pauses it when its complaints reach the upper one of `COMPLAINT_THRESHOLDS`. */
  pauseOnComplaints: Schema.Boolean,
  /** When it was paused or cancelled; null while it is neither. */
  stoppedAt: Schema.NullOr(Timestamp),
  /** The operator who did that, or `a worker`; null if nobody asked for it, as after a restore. */
  stoppedBy: Schema.NullOr(Schema.String),
  stopReason: Schema.NullOr(Schema.String),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type Campaign = typeof Campaign.Type
export type CampaignKind = Campaign["kind"]

export const ListedCampaign = Schema.Struct(Struct.omit(Campaign.fields, ["html", "text"]))
export type ListedCampaign = typeof ListedCampaign.Type

/** Who pauses or cancels a campaign, and why. */
export type Stop = Pick<Campaign, "stoppedBy" | "stopReason">

/** A campaign as its summary and its events show it. */
export const CampaignSummary = Schema.Struct(
  Struct.omit(Campaign.fields, [
    ...(["subject", "html", "text", "shortLink", "fields", "perMinute"] as const),
    ...(["pauseOnComplaints", "stoppedAt", "stoppedBy", "stopReason"] as const),
  ]),
)
export type CampaignSummary = typeof CampaignSummary.Type

/** The operators' commands: the statuses in which each is allowed, and the status that follows. */
export const TRANSITIONS = {
  schedule: { from: ["draft", "paused"], to: "scheduled" },
  resume: { from: ["paused"], to: "scheduled" },
  pause: { from: ["scheduled", "publishing", "published", "sending"], to: "paused" },
  cancel: { from: ["draft", "scheduled", "publishing", "published", "sending", "paused"], to: "cancelled" },
} as const satisfies Record<string, { from: ReadonlyArray<CampaignStatus>; to: CampaignStatus }>

export type Command = keyof typeof TRANSITIONS

/** The commands after which a campaign is published and sent. */
export type Scheduling = "schedule" | "resume"

/** What the worker does to a campaign by itself, in the same form. */
export const WORKER_TRANSITIONS = {
  publish: { from: ["scheduled", "publishing"], to: "publishing" },
  finishPublishing: { from: ["scheduled", "publishing"], to: "published" },
  open: { from: ["published"], to: "sending" },
  complete: { from: ["sending"], to: "completed" },
} as const satisfies Record<string, { from: ReadonlyArray<CampaignStatus>; to: CampaignStatus }>

/** Returns the status after a publication: `published` once the recipients that were read were the last ones, and all are announced. */
export const statusAfterPublication = (count: Record<"limit" | "read" | "announced", number>): CampaignStatus => {
  const isLast = count.read < count.limit && count.announced === count.read
  return (isLast ? WORKER_TRANSITIONS.finishPublishing : WORKER_TRANSITIONS.publish).to
}

/** The statuses of a campaign of which nothing more is sent. */
export const CLOSED: ReadonlyArray<CampaignStatus> = ["completed", "cancelled"]

/** Statuses in which the worker publishes or sends, or will. */
export const UNDER_WAY: ReadonlyArray<CampaignStatus> = TRANSITIONS.pause.from

/** Statuses in which recipients may be added: the worker touches the campaign in none of them. */
export const IMPORTABLE: ReadonlyArray<CampaignStatus> = ["draft", "paused"]

/** How far a campaign has come, in recipients. */
export const CampaignProgress = Schema.Struct({
  recipients: Schema.Int,
  published: Schema.Int,
  queued: Schema.Int,
  /** Queued, and put off by their mailboxes at least once. */
  deferred: Schema.Int,
  /** Queued, and sent at least once without a response. */
  unknown: Schema.Int,
  /** Sent several times without a response, and not tried again. */
  quarantined: Schema.Int,
  withdrawn: Schema.Int,
  sent: Schema.Int,
  sentInLastMinute: Schema.Int,
  /** Refused at once, or returned after they were sent. */
  bounced: Schema.Int,
  /** Refused after they were sent, without a hard bounce. */
  refusedLater: Schema.Int,
  /** Those who reported their message as unwanted. */
  complained: Schema.Int,
  /** Those who asked for no more e-mails, and did not take it back. */
  unsubscribed: Schema.Int,
  /** Those that the mail server has decided about: sent or bounced. */
  answered: Schema.Int,
})
export type CampaignProgress = typeof CampaignProgress.Type

/** Counts the recipients who were neither sent to, nor bounced, nor withdrawn, nor quarantined. */
export const countUnsent = ({ recipients, withdrawn, quarantined, answered }: CampaignProgress): number =>
  Math.max(0, recipients - withdrawn - quarantined - answered)

/** Why messages of a campaign were not sent the last time, when their recipients are not the reason. */
export const CampaignFailure = Schema.Struct({ ...MailFailure.fields, messages: Schema.Int })
export type CampaignFailure = typeof CampaignFailure.Type

/** A message that nobody knows to be delivered or not, and that is not tried again. */
export const QuarantinedMessage = Schema.Struct({
  ...MailFailure.fields,
  /** The left-hand side of its Message-ID. */
  recipientId: RecipientId,
  token: Schema.String,
  unknownOutcomes: Schema.Int,
  quarantinedAt: Timestamp,
})
export type QuarantinedMessage = typeof QuarantinedMessage.Type

/** A recipient domain that a campaign leaves alone for a while, because it rejected us. */
export const DomainPause = Schema.Struct({
  domain: Schema.String,
  /** The codes of the rejection. */
  status: Schema.String,
  until: Timestamp,
})
export type DomainPause = typeof DomainPause.Type
