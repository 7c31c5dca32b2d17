import type { CampaignId, OrganizationId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Lets a campaign have its next turn within the given number of seconds.
 *
 * Each statement is a transaction of its own: it waits for a claim that holds the turn, and holds no row while it waits.
 */
export const bringTurnForward = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  campaignId: CampaignId,
  delaySeconds: number,
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    update campaign_turns set next_at = clock_timestamp() + make_interval(secs => ${delaySeconds}::int)
    where organization_id = ${organizationId} and campaign_id = ${campaignId}
      and next_at > clock_timestamp() + make_interval(secs => ${delaySeconds}::int)`
  yield* sql`
    update organization_turns set next_at = clock_timestamp() + make_interval(secs => ${delaySeconds}::int)
    where organization_id = ${organizationId} and next_at > clock_timestamp() + make_interval(secs => ${delaySeconds}::int)`
})
