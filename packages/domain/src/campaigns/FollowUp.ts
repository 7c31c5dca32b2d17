import { Schema, Struct } from "effect"
import { CampaignId, type ProgramId } from "../Identifier.ts"
import { Recipient } from "../recipients/Recipient.ts"
import { fromUnixMillis, Timestamp, toUnixMillis } from "../Timestamp.ts"
import { type Campaign, CLOSED } from "./Campaign.ts"

// Glossary. Follow-up: a campaign to those recipients of an earlier one who have not done something. It is drawn once: shortly before its
// window starts, each recipient of the earlier campaign becomes one of its own recipients, or is skipped for a reason.

/** What recipients may have done, so that they are not written to again. */
export const FOLLOW_UP_CONDITIONS = ["clicked", "account_created", "learner_qualified"] as const

/** The recipients that a follow-up is sent to. */
export const FollowUp = Schema.Struct({
  followUpOf: CampaignId,
  unless: Schema.Literals(FOLLOW_UP_CONDITIONS),
  /** How long each recipient has had since the earlier e-mail was sent. */
  afterSeconds: Schema.Int,
})
export type FollowUp = typeof FollowUp.Type

/** Why a recipient of the earlier campaign is not a recipient of the follow-up. */
const SKIP_REASONS = [
  ...(["not_sent", "bounced", "refused_later", "complained", "erased", "too_recent"] as const),
  ...FOLLOW_UP_CONDITIONS,
  ...(["suppressed", "quota_reached"] as const),
]
export type SkipReason = (typeof SKIP_REASONS)[number]

export const FollowUpState = Schema.Struct({
  ...FollowUp.fields,
  /** When the last recipient was drawn or skipped; null before. */
  drawnAt: Schema.NullOr(Timestamp),
  skipped: Schema.Record(Schema.Literals(SKIP_REASONS), Schema.optionalKey(Schema.Int)),
})
export type FollowUpState = typeof FollowUpState.Type

export const FollowedRecipient = Schema.Struct({
  ...Struct.pick(Recipient.fields, ["id", "npi", "email", "sentAt", "bouncedAt"]),
  isErased: Schema.Boolean,
  isRefusedLater: Schema.Boolean,
  hasComplained: Schema.Boolean,
  /** Whether the recipient clicked on this e-mail, or on one that it followed in turn; clicks of suspected bots do not count. */
  hasClicked: Schema.Boolean,
  hasAccount: Schema.Boolean,
  hasQualified: Schema.Boolean,
})
export type FollowedRecipient = typeof FollowedRecipient.Type

/** How long before its window a follow-up is drawn at the earliest, unless its recipients have less time. */
const DRAW_LEAD_SECONDS = 3600

/** Returns how many seconds before its window a follow-up is drawn: every recipient who is drawn has been sent to by then. */
export const drawLeadSeconds = ({ afterSeconds }: Pick<FollowUp, "afterSeconds">): number =>
  Math.min(DRAW_LEAD_SECONDS, afterSeconds)

/** Returns why a recipient of the earlier campaign is skipped, or undefined; suppressed recipients are found later. */
export const judgeFollowed = (
  recipient: FollowedRecipient,
  { unless, afterSeconds, windowStart }: Pick<FollowUp, "unless" | "afterSeconds"> & Pick<Campaign, "windowStart">,
): SkipReason | undefined => {
  if (recipient.isErased) return "erased"
  if (recipient.bouncedAt !== null) return "bounced"
  if (recipient.isRefusedLater) return "refused_later"
  if (recipient.hasComplained) return "complained"
  if (recipient.sentAt === null) return "not_sent"
  if (toUnixMillis(recipient.sentAt) + afterSeconds * 1000 > toUnixMillis(windowStart)) return "too_recent"
  const hasActed = {
    clicked: recipient.hasClicked,
    account_created: recipient.hasAccount,
    learner_qualified: recipient.hasQualified,
  }
  return hasActed[unless] ? unless : undefined
}

/** Returns why a campaign cannot follow another one, or undefined if it can; `lastSentAt` is when the last e-mail of that one was sent. */
export const checkFollowUp = (
  followUp: FollowUp,
  followed: Pick<Campaign, "id" | "programId" | "kind" | "status" | "windowEnd"> & {
    readonly lastSentAt: Timestamp | null
  },
  campaign: Pick<Campaign, "kind" | "windowStart"> & { readonly programId: ProgramId },
): string | undefined => {
  const { id, status, lastSentAt, windowEnd } = followed
  if (campaign.programId !== followed.programId) {
    return `Campaign ${id} is of the program ${followed.programId}; a follow-up is of the same program.`
  }
  if (campaign.kind !== followed.kind) return `Campaign ${id} is a ${followed.kind} campaign, and so is its follow-up.`
  if (status === "draft") return `Campaign ${id} is a draft; schedule it before a follow-up is added.`
  const isClosed = CLOSED.includes(status)
  if (isClosed && lastSentAt === null)
    return `Campaign ${id} is ${status}, and nobody was sent an e-mail; there is nobody to follow.`
  const end = isClosed ? lastSentAt! : windowEnd
  const earliest = fromUnixMillis(Math.ceil(toUnixMillis(end) / 1000 + 1) * 1000 + followUp.afterSeconds * 1000)
  if (campaign.windowStart >= earliest) return undefined
  const until = isClosed ? "sent its last e-mail at" : "may send until"
  return `Campaign ${id} ${until} ${end}. So that each recipient has had the time since, the window of the follow-up cannot start before ${earliest}.`
}
