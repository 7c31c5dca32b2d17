import { FEED_EVENT_TYPES, SCOPES } from "@outreach/contract"
import { Deployment } from "@outreach/domain/Deployment"
import type { RecipientId } from "@outreach/domain/Identifier"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { EventPublisherPg } from "@outreach/postgres/events/EventPublisherPg"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect, Layer, Redacted } from "effect"
import { publishOutcomes } from "../handlers/publishOutcomes.ts"
import type { TestApi } from "../startApi.ts"

/** An organization with every resource of the pull API, and a key with all scopes. */
export interface Resources {
  readonly key: string
  readonly campaignId: string
  readonly programId: string
  /** Token of a recipient with all timestamps, and of a recipient without any. */
  readonly tokens: readonly [touched: string, untouched: string]
  /** Path of each list, with its required parameters. */
  readonly lists: Readonly<Record<"tokens" | "events" | "recipients", string>>
}

/** Creates a campaign with two recipients, one with every outcome, in a live or a test deployment. */
export const seedResources = (api: TestApi, livemode = false): Promise<Resources> =>
  api.run(
    Effect.gen(function* () {
      const { organization, campaign, program } = yield* seedCampaign({ recipients: 2 })
      const rows = yield* sql<{ id: RecipientId; token: string }>`
        select id, token from recipients where organization_id = ${organization.id} order by id`
      const [touched, untouched] = [rows[0]!, rows[1]!]
      yield* sql`
        update recipients set sent_at = updated_at, bounced_at = updated_at, last_event_at = updated_at
        where organization_id = ${organization.id} and id = ${touched.id}`
      yield* publishOutcomes(campaign, FEED_EVENT_TYPES, touched.id)
      const { text } = yield* issueKey({
        organizationId: organization.id,
        name: "test",
        scopes: SCOPES,
        expiresAt: null,
      })
      const since = "since=2026-01-01T00:00:00Z"
      return {
        key: Redacted.value(text),
        campaignId: campaign.id,
        programId: program.id,
        tokens: [touched.token, untouched.token] as const,
        lists: {
          tokens: `/v1/partners/consumer/tokens?${since}`,
          events: `/v1/partners/consumer/events?${since}`,
          recipients: `/v1/partners/consumer/campaigns/${campaign.id}/recipients?`,
        },
      }
    }).pipe(Effect.provide(Layer.fresh(EventPublisherPg)), Effect.provideService(Deployment, { livemode })),
  )
