import { type RecipientRef, TrackingLinks } from "@outreach/domain/hits/TrackingLinks"
import type { RecipientId } from "@outreach/domain/Identifier"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect, Layer } from "effect"

/** Links of a deployment with the tests' key and an empty base URL, so that each is a path. */
export const links: TrackingLinks["Service"] = Effect.runSync(
  TrackingLinks.pipe(Effect.provide(Layer.provide(TrackingLinks.below(""), NodeTrackingSeal(SECRETS_RING)))),
)

/** Seeds recipients of messages accepted an hour ago. Returns them. */
export const seedMessages = Effect.fnUntraced(function* (recipients: number) {
  const { organization, program, campaign, endpoint } = yield* seedCampaign({ recipients })
  yield* sql`
    update recipients set sent_at = clock_timestamp() - interval '1 hour' where organization_id = ${organization.id}`
  const rows = yield* sql<{ id: RecipientId; token: string; npi: string; email: string }>`
    select id, token, npi, email from recipients where organization_id = ${organization.id} order by id`
  const addressees = rows.map(
    (row) => ({ ...row, organizationId: organization.id, recipientId: row.id }) satisfies RecipientRef,
  )
  return { organization, program, campaign, endpoint, addressees }
})
