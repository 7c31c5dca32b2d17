import type { MessageLease } from "@outreach/domain/mail/Message"
import type { MessageClaim } from "@outreach/domain/mail/MessageQueue"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** How many messages a claim looks at once those it looked at first all had to wait: they are put off, and so looked at once. */
const LOOK_FURTHER = 1000

/**
 * Leases messages, at most as many as the rates leave room for.
 *
 * Claims take turns in the database, so that a rate holds over all workers. A message whose domain is paused, or has had its share, is
 * put off to when its turn comes, so that it does not stand in the way of the others.
 */
export const claimMessages = Effect.fnUntraced(function* (options: MessageClaim) {
  const { limit, leaseSeconds, perMinute, perDomainMinute, maxPerCampaign = limit, heldByCampaign = {} } = options
  const sql = yield* SqlClient.SqlClient
  let look = limit
  while (true) {
    const rows = yield* sql<{ readonly putOff: number; readonly lease: MessageLease | null }>`
      select put_off_count as "putOff", lease
      from claim_messages(
        ${limit}::int, ${look}::int, ${leaseSeconds}::double precision, ${perMinute}::int, ${perDomainMinute}::int,
        ${maxPerCampaign}::int, ${JSON.stringify(heldByCampaign)}::jsonb
      )`
    const leases = rows.flatMap(({ lease }) => lease ?? [])
    if (leases.length > 0 || (rows[0]?.putOff ?? 0) === 0) return leases
    look = LOOK_FURTHER
  }
})
