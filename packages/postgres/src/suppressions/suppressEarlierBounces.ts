import type { OrganizationId } from "@outreach/domain/Identifier"
import type { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { HARD_BOUNCES } from "@outreach/domain/suppressions/Suppression"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"
import { commitTimestamp } from "../events/commitTimestamp.ts"
import { suppressAddresses } from "./suppressAddresses.ts"

/** How many bounces one transaction reads. */
const BATCH_SIZE = 1000

interface Bounce {
  readonly id: string
  readonly at: Timestamp
  /** Null when the address may take mail again, or was erased. */
  readonly email: EmailAddress | null
}

/**
 * Suppresses the addresses whose hard bounces are on record in every program of an organization; `withdrawSuppressed` withdraws who waits.
 *
 * For bounces of releases that suppressed nothing. Returns how many bounces were read, and how many addresses are new.
 */
export const suppressEarlierBounces = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const sql = yield* SqlClient.SqlClient
  const result = { bounces: 0, added: 0 }
  let last: Pick<Bounce, "id" | "at"> = { id: "", at: "-infinity" as Timestamp }
  for (;;) {
    const read: ReadonlyArray<Bounce> = yield* sql<Bounce>`
      select event.id, emitted_at as at,
        case when body::jsonb -> 'data' ->> 'bounce_reason' = any (${HARD_BOUNCES}::text[]) and erased_at is null then email end as email
      from (
        select * from events
        where organization_id = ${organizationId} and type = 'outreach.email_bounced'
          and (emitted_at, id) > (${last.at}::timestamptz, ${last.id}) order by emitted_at, id limit ${BATCH_SIZE}
      ) event
      left join recipients recipient on recipient.organization_id = event.organization_id and recipient.id = recipient_id
      order by emitted_at, event.id`
    const emails = read.flatMap(({ email }) => email ?? [])
    if (emails.length > 0) {
      result.added += yield* sql.withTransaction(
        Effect.andThen(commitTimestamp(organizationId), suppressAddresses(organizationId, emails, "bounced")),
      )
    }
    result.bounces += read.length
    if (read.length < BATCH_SIZE) return result
    last = read.at(-1)!
  }
}, orDieAs("suppressEarlierBounces"))
