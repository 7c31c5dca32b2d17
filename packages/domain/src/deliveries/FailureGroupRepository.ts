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
    /** Excludes a group from alerts and lists until it is unmuted. Replaces the reason of a muted group. */
    mute(groupId: FailureGroupId, reason: string): Effect.Effect<void, FailureGroupNotFound>
    /** Unmutes a group; no effect if it isn't muted. */
    unmute(groupId: FailureGroupId): Effect.Effect<void, FailureGroupNotFound>
  }
>()("domain/deliveries/FailureGroupRepository") {}
