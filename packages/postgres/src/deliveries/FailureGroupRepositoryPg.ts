import { FailureGroupNotFound, FailureGroupRepository } from "@outreach/domain/deliveries/FailureGroupRepository"
import { FailureGroupId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { adapter } from "../adapter.ts"
import { decodeColumn, firstOr } from "../rowsOf.ts"

const decodeIds = decodeColumn({ id: FailureGroupId })

export const FailureGroupRepositoryPg = adapter(FailureGroupRepository, (sql) => {
  const setReason = (groupId: FailureGroupId, reason: string | null) =>
    sql`
        update failure_groups set muted_reason = ${reason}::text, muted_at = case when ${reason}::text is not null then clock_timestamp() end
        where id = ${groupId} returning id`.pipe(decodeIds, firstOr(FailureGroupNotFound, { groupId }), Effect.asVoid)
  return { mute: setReason, unmute: (groupId) => setReason(groupId, null) }
})
