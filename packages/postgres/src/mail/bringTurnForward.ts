import type { CampaignId, OrganizationId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Schedules a campaign's next turn within the given number of seconds.
 *
 * Each statement is a separate transaction, so that no row is locked while it waits for a claim that has locked the turn.
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
