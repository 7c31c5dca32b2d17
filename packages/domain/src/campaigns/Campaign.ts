import type { CampaignId, OrganizationId, ProgramId, RecipientId } from "../Identifier.ts"
import type { MailFailure } from "../mail/Mailer.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { SendingHours } from "./SendingHours.ts"

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

/** Only traffic campaigns are forwarded as webhooks and appear in the feed. */
export type CampaignKind = "traffic" | "survey"

/** What names a campaign in every table. */
export interface CampaignKey {
  readonly organizationId: OrganizationId
  readonly campaignId: CampaignId
}

/** An e-mail to a list of recipients, sent inside a window of time. */
export interface Campaign {
  readonly organizationId: OrganizationId
  readonly id: CampaignId
  readonly programId: ProgramId
  readonly name: string
  readonly kind: CampaignKind
  readonly status: CampaignStatus
  readonly subject: string
  readonly html: string
  /** The text part; null to make it of the HTML. */
  readonly text: string | null
  /** The partner's own link to a recipient's token, which `{token}` stands for; templates name it `short_link`. */
  readonly shortLink: string | null
  /** What the templates may name of each recipient; imports have a column for each. */
  readonly fields: ReadonlyArray<string>
  /** How many e-mails go out in a minute at most; null for no bound of its own. */
  readonly perMinute: number | null
  /** When e-mails go out by the local time of recipients whose fields say where they are; null for any time. */
  readonly hours: SendingHours | null
  /** Messages go out from the start, inclusive, to the end, exclusive. */
  readonly windowStart: Timestamp
  readonly windowEnd: Timestamp
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

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
export interface CampaignProgress {
  readonly recipients: number
  readonly published: number
  readonly queued: number
  /** Queued, and put off by their mailboxes at least once. */
  readonly deferred: number
  /** Queued, and sent at least once without a response. */
  readonly unknown: number
  /** Sent several times without a response, and not tried again. */
  readonly quarantined: number
  readonly withdrawn: number
  readonly sent: number
  readonly sentInLastMinute: number
  /** Refused at once, or returned after they were sent. */
  readonly bounced: number
  /** Those who reported their message as unwanted. */
  readonly complained: number
  /** Those of whom the mail server has had the last word: sent or bounced. */
  readonly answered: number
}

/** Counts the recipients who were neither sent to, nor bounced, nor withdrawn, nor quarantined. */
export const countUnsent = ({ recipients, withdrawn, quarantined, answered }: CampaignProgress): number =>
  Math.max(0, recipients - withdrawn - quarantined - answered)

/** Why messages of a campaign were not sent the last time, when their recipients are not the reason. */
export interface CampaignFailure extends MailFailure {
  readonly messages: number
}

/** A message that nobody knows to be delivered or not, and that is not tried again. */
export interface QuarantinedMessage extends MailFailure {
  /** The left-hand side of its Message-ID. */
  readonly recipientId: RecipientId
  readonly token: string
  readonly unknownOutcomes: number
  readonly quarantinedAt: Timestamp
}

/** A recipient domain that a campaign leaves alone for a while, because it rejected us. */
export interface DomainPause {
  readonly domain: string
  /** The codes of the rejection. */
  readonly status: string
  readonly until: Timestamp
}
