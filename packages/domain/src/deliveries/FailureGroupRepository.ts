import { Context, type Effect } from "effect"
import { DescribedError } from "../DescribedError.ts"
import type { FailureGroupId } from "../Identifier.ts"

export class FailureGroupNotFound extends DescribedError(
  "FailureGroupNotFound",
  "No group of failures {groupId}: it never was, or it ended long ago and none of its dead letters is kept any more.",
) {}

export class FailureGroupRepository extends Context.Service<
  FailureGroupRepository,
  {
    /** Keeps a group from the counts and lists of what needs attention, until it is unmuted. A group that is muted gets the new reason. */
    mute(groupId: FailureGroupId, reason: string): Effect.Effect<void, FailureGroupNotFound>
    /** Ends that; of a group that is not muted it changes nothing. */
    unmute(groupId: FailureGroupId): Effect.Effect<void, FailureGroupNotFound>
  }
>()("domain/deliveries/FailureGroupRepository") {}
