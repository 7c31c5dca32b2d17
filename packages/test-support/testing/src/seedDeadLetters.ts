import type { DeadLetterReason } from "@outreach/domain/deliveries/Delivery"
import { Effect } from "effect"
import { type DeadLetter, insertDeadLetters } from "./insertDeadLetters.ts"
import { publishSent } from "./publishTogether.ts"
import { seedCampaign } from "./seedCampaign.ts"
import { sql } from "./sql.ts"

/**
 * Creates an organization with a number of dead letters of one event. Each died a millisecond after the previous one, the last one `daysAgo`. Its
 * endpoint is disabled, so that replayed events stay visible.
 */
export const seedDeadLetters = Effect.fnUntraced(function* (
  count: number,
  options: {
    readonly reason?: DeadLetterReason
    readonly daysAgo?: number
    /** Attempts of each; default none. */
    readonly attempts?: DeadLetter["attempts"]
  } = {},
) {
  const { reason = "exhausted", daysAgo = 0, attempts = [] } = options
  const seeded = yield* seedCampaign({ recipients: 0 })
  const { organization, endpoint, campaign } = seeded
  const [eventId] = yield* publishSent(campaign, 1)
  yield* sql`
    update reader_positions set begun_at = last, begun_id = '~' from organization_clock clock
    where endpoint_id = ${endpoint.id} and clock.organization_id = ${organization.id}`
  yield* sql`update webhook_endpoints set enabled = false where id = ${endpoint.id}`
  const dead = { organizationId: organization.id, endpointId: endpoint.id, eventId: eventId!, reason, attempts }
  yield* insertDeadLetters(
    Array.from({ length: count }, (_, n) => ({ ...dead, secondsAgo: daysAgo * 86_400 + (count - n - 1) / 1000 })),
  )
  return { ...seeded, eventId: eventId! }
})
