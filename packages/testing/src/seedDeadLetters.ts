import type { DeadLetterReason } from "@outreach/domain/deliveries/Delivery"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { publishSent } from "./publishTogether.ts"
import { seedCampaign } from "./seedCampaign.ts"

/**
 * Gives an organization of its own so many dead letters of one event, each set aside a millisecond after the one before it and the
 * last `daysAgo`; its endpoint is disabled, so that what is replayed waits to be looked at.
 */
export const seedDeadLetters = Effect.fnUntraced(function* (
  count: number,
  { reason = "exhausted", daysAgo = 0 }: { readonly reason?: DeadLetterReason; readonly daysAgo?: number } = {},
) {
  const sql = yield* SqlClient.SqlClient
  const seeded = yield* seedCampaign({ recipients: 0 })
  const { organization, endpoint, campaign } = seeded
  const [eventId] = yield* publishSent(campaign, 1)
  yield* sql`
    update reader_positions set begun_at = last, begun_id = '~' from organization_clock clock
    where endpoint_id = ${endpoint.id} and clock.organization_id = ${organization.id}`
  yield* sql`update webhook_endpoints set enabled = false where id = ${endpoint.id}`
  yield* sql`
    insert into dead_letters (organization_id, id, endpoint_id, event_id, reason, attempts, created_at, finished_at)
    select ${organization.id}, make_id('dlv'), ${endpoint.id}, ${eventId!}, ${reason}, '[]', at, at
    from generate_series(1, ${count}::int) n
    cross join lateral (
      select clock_timestamp() - make_interval(days => ${daysAgo}::int) - make_interval(secs => (${count}::int - n) / 1000.0) as at
    ) set_aside`
  return { ...seeded, eventId: eventId! }
})
