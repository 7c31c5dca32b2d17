import { FOLLOW_UP_CONDITIONS, type FollowUp } from "@outreach/domain/campaigns/FollowUp"
import { CampaignId } from "@outreach/domain/Identifier"
import { Seconds } from "@outreach/domain/Seconds"
import { Effect, Option, Schema } from "effect"
import { Flag } from "effect/cli"
import { parsedFlag } from "./parsedInput.ts"

/** The flags of a follow-up do not fit together. */
class IncompleteFollowUp extends Schema.TaggedError<IncompleteFollowUp>()("IncompleteFollowUp", {}) {
  override get message(): string {
    return "A follow-up needs all of --follow-up, --unless and --after, and no other campaign has one of them."
  }
}

/** `--follow-up`, `--unless` and `--after`: which campaign is followed, and who is not sent a follow-up. */
export const followUpFlags = {
  followUpOf: parsedFlag(
    "follow-up",
    CampaignId,
    "The campaign, cmp_…, from whose recipients those of this one are drawn",
  ).pipe(Flag.optional),
  unless: Flag.Literals("unless", FOLLOW_UP_CONDITIONS).pipe(
    Flag.withDescription("Leave out recipients who have clicked, created an account, or qualified as learners"),
    Flag.optional,
  ),
  after: parsedFlag("after", Seconds, "The time that they have had since their e-mail was sent, such as 5d").pipe(
    Flag.optional,
  ),
}

/** Reads the follow-up that the flags describe; undefined without any. */
export const readFollowUp = Effect.fnUntraced(function* ({
  followUpOf,
  unless,
  after,
}: {
  readonly followUpOf: Option.Option<CampaignId>
  readonly unless: Option.Option<FollowUp["unless"]>
  readonly after: Option.Option<number>
}) {
  if (Option.isSome(followUpOf) && Option.isSome(unless) && Option.isSome(after)) {
    return { followUpOf: followUpOf.value, unless: unless.value, afterSeconds: after.value } satisfies FollowUp
  }
  if (Option.isSome(followUpOf) || Option.isSome(unless) || Option.isSome(after)) return yield* new IncompleteFollowUp()
  return undefined
})
