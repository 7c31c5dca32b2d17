import type { OrganizationId, SenderId } from "@outreach/domain/Identifier"
import { Array as Arr, Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The sender and the day whose ramp has counted a message. */
interface RampDay {
  readonly senderId: SenderId
  readonly day: string
}

/** Takes messages off the counts of the ramps of one organization's senders. A day that is over stays as it is. */
export const giveBackToRamps = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  messages: ReadonlyArray<RampDay>,
) {
  const sql = yield* SqlClient.SqlClient
  const groups = Object.entries(Arr.groupBy(messages, ({ senderId, day }) => `${senderId} ${day}`))
  // In one order, so that no two workers wait for each other.
  for (const [, group] of groups.sort(([one], [other]) => (one < other ? -1 : 1))) {
    yield* sql`
      update sender_ramps set sent = greatest(0, sent - ${group.length}::int)
      where organization_id = ${organizationId} and sender_id = ${group[0].senderId} and counted_on = ${group[0].day}::date`
  }
})
