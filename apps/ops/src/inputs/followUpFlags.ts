import { FOLLOW_UP_CONDITIONS, type FollowUp } from "@outreach/domain/campaigns/FollowUp"
import { CampaignId } from "@outreach/domain/Identifier"
import { Seconds } from "@outreach/domain/Seconds"
import { Effect } from "effect"
import { refuse } from "../output/refuse.ts"
import { choice, flag, named, optional, type Values } from "./Input.ts"

/** `--follow-up`, `--unless` and `--after`: which campaign is followed, and who is not sent a follow-up. */
export const followUpFlags = {
  followUpOf: named(
    "follow-up",
    optional(flag(CampaignId, "The campaign, cmp_…, from whose recipients those of this one are drawn")),
  ),
  unless: optional(
    choice(FOLLOW_UP_CONDITIONS, "Leave out recipients who have clicked, created an account, or qualified as learners"),
  ),
  after: optional(flag(Seconds, "The time that they have had since their e-mail was sent, such as 5d")),
}

/** Reads the follow-up that the flags describe; undefined without any. */
export const readFollowUp = Effect.fnUntraced(function* (flags: Values<typeof followUpFlags>) {
  const { followUpOf, unless, after: afterSeconds } = flags
  if (followUpOf !== undefined && unless !== undefined && afterSeconds !== undefined) {
    return { followUpOf, unless, afterSeconds } satisfies FollowUp
  }
  if ((followUpOf ?? unless ?? afterSeconds) === undefined) return undefined
  return yield* refuse(
    "IncompleteFollowUp",
    "A follow-up needs all of --follow-up, --unless and --after, and no other campaign has one of them.",
  )
})
