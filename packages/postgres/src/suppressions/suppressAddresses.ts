import type { OrganizationId } from "@outreach/domain/Identifier"
import type { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import type { SuppressionReason } from "@outreach/domain/suppressions/Suppression"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Suppresses addresses in every program of an organization, and returns the number of new ones; `withdrawSuppressed` withdraws the waiting recipients.
 *
 * Call it with the organization's clock locked, so that a recipient who was imported without seeing the suppression is already committed.
 */
export const suppressAddresses = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  emails: ReadonlyArray<EmailAddress>,
  reason: SuppressionReason,
) {
  if (emails.length === 0) return 0
  const sql = yield* SqlClient.SqlClient
  const added = yield* sql`
    with stored as (
      insert into organization_suppressions (organization_id, kind, value, reason)
      select distinct ${organizationId}, 'email', lower(email), ${reason} from unnest(${emails}::text[]) as email
      order by 3
      on conflict (organization_id, kind, value) do update set reason = excluded.reason, by_unsubscription = false
        where organization_suppressions.by_unsubscription
      returning xmax = 0 as is_new
    )
    select from stored where is_new`
  return added.length
})
