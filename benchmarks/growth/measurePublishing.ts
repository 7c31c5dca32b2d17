import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { composeEvent } from "@outreach/domain/events/Event"
import { createIdentifier } from "@outreach/domain/Identifier"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { Hints } from "@outreach/postgres/events/Hints"
import { publishEvents } from "@outreach/postgres/events/publishEvents"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const WRITERS = 16
const ORGANIZATIONS = 20

/** Commits per second, with hints and without. */
export interface PublishingRates {
  readonly on: number
  readonly off: number
}

const publish = Effect.fnUntraced(function* ({ id: campaignId, organizationId, programId }: Campaign) {
  const sql = yield* SqlClient.SqlClient
  const recipientId = yield* createIdentifier("recipient")
  const about = { id: yield* createIdentifier("event"), organizationId, campaignId, programId, recipientId }
  const event = composeEvent("outreach.email_sent", about, {
    service_recipient_id: recipientId,
    service_campaign_id: campaignId,
    token: "aB3dE9",
  })
  yield* sql.withTransaction(Effect.flatMap(commitTimestamp(organizationId), (at) => publishEvents([event], at)))
})

const rate = Effect.fnUntraced(function* (campaigns: ReadonlyArray<Campaign>, seconds: number) {
  const until = performance.now() + seconds * 1000
  let commits = 0
  const writer = Effect.gen(function* () {
    while (performance.now() < until) {
      yield* publish(campaigns[Math.floor(Math.random() * campaigns.length)]!)
      commits += 1
    }
  })
  yield* Effect.all(
    Array.from({ length: WRITERS }, () => writer),
    { concurrency: "unbounded", discard: true },
  )
  return commits / seconds
})

/** Measures how fast writers publish with one event per transaction, with hints and without in turn. */
export const measurePublishing = (options: {
  readonly databaseUrl: string
  readonly rounds: number
  readonly seconds: number
}): Promise<ReadonlyArray<PublishingRates>> =>
  Effect.gen(function* () {
    const { rounds, seconds } = options
    const campaigns: Campaign[] = []
    for (let i = 0; i < ORGANIZATIONS; i++) campaigns.push((yield* seedCampaign({ recipients: 0 })).campaign)
    const hints = yield* Hints
    const silent = { ...hints, give: () => Effect.void }
    const rates: PublishingRates[] = []
    // The first round warms up.
    for (let round = 0; round <= rounds; round++) {
      const off = yield* Effect.provideService(rate(campaigns, seconds), Hints, silent)
      const on = yield* rate(campaigns, seconds)
      if (round > 0) rates.push({ on, off })
    }
    return rates
  }).pipe(Effect.provide(adaptersFor(options.databaseUrl, { maxConnections: WRITERS })), Effect.runPromise)
