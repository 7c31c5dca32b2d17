import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { createCampaign, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { publishChunk } from "@outreach/domain/campaigns/publishRecipients"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import { composeEvent, EventPublisher } from "@outreach/domain/events/Event"
import { createIdentifier, type RecipientId } from "@outreach/domain/Identifier"
import { claimMessages } from "@outreach/domain/mail/claimMessages"
import type { MessageLease } from "@outreach/domain/mail/Message"
import { Settlements } from "@outreach/domain/mail/Settlements"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { npi } from "@outreach/testing/seedCampaign"
import { inTransaction, sql } from "@outreach/testing/sql"
import { Data, Effect, Random } from "effect"

/** Counts of events that a meaningful run must contain. */
export interface Tally {
  rolledBack: number
}

/**
 * Eight writers of one organization, like one process: importers, campaigns from draft to outcomes,
 * and transactions that pause before their stamp, or between stamp and commit; some roll back.
 */
export const writers = (campaign: Campaign, tally: Tally) => [
  register(campaign, 1, 1),
  register(campaign, 1, 1),
  register(campaign, 2, 40),
  launch(campaign),
  settle,
  settle,
  rewrite(campaign, tally, () => [1500, 0]),
  rewrite(campaign, tally, (draw) => [0, draw < 0.05 ? 1500 : 100 * draw]),
]

let lines = 0

/** Registers recipients in a draft, as an import does. */
export const register = (campaign: Campaign, least: number, most: number) =>
  Effect.flatMap(Random.nextIntBetween(least, most), (count) =>
    importLines(
      campaign.id,
      Array.from({ length: count }, () => ({
        number: ++lines,
        npi: npi(lines),
        email: `clinician${lines}@clinic.test`,
      })),
    ),
  )

// An operator creates and schedules a campaign; a worker publishes and opens it.
const launch = Effect.fnUntraced(function* (like: Campaign) {
  const campaign = yield* createCampaign(like)
  yield* register(campaign, 10, 60)
  yield* scheduleCampaign(campaign.id)
  yield* publishChunk()
  yield* (yield* CampaignRepository).openAndComplete
})

const settle = Effect.gen(function* () {
  const { settle } = yield* Settlements
  const leases = yield* claimMessages({
    limit: yield* Random.nextIntBetween(1, 12),
    leaseSeconds: 60,
    perMinute: null,
    perDomainMinute: null,
  })
  yield* Effect.forEach(
    leases,
    Effect.fnUntraced(function* (lease) {
      const state = (yield* Random.nextBoolean) ? "sent" : "bounced"
      const event = yield* outcomeOf(lease, state)
      yield* settle(lease, { state, event })
    }),
    { concurrency: "unbounded", discard: true },
  )
})

const rewrite = (campaign: Campaign, tally: Tally, pauses: (draw: number) => [before: number, after: number]) => {
  let turn = 0
  return Effect.gen(function* () {
    const [before, after] = pauses(yield* Random.next)
    yield* stampLate(campaign, yield* Random.nextIntBetween(1, 20), Effect.sleep(before))
    yield* Effect.sleep(after)
    if (turn++ % 3 === 0) return yield* new RolledBack()
  }).pipe(
    inTransaction,
    Effect.catchTag("RolledBack", () => Effect.sync(() => tally.rolledBack++)),
  )
}

class RolledBack extends Data.TaggedError("RolledBack") {}

/** Writes both lists with one stamp after `before`; part of a transaction. */
export const stampLate = Effect.fnUntraced(function* (campaign: Campaign, count: number, before: Effect.Effect<void>) {
  const { organizationId, id: campaignId, programId } = campaign
  // Rows are locked before the clock, as in every adapter.
  const recipients = yield* sql<{ recipientId: RecipientId; token: string }>`
    select id as "recipientId", token from recipients
    where organization_id = ${organizationId} and campaign_id = ${campaignId}
    order by random() limit ${count} for update skip locked`
  const events = yield* Effect.forEach(recipients, (recipient) =>
    outcomeOf({ ...recipient, organizationId, campaignId, programId }, "sent"),
  )
  yield* before
  const at = yield* commitTimestamp(organizationId)
  yield* EventPublisher.use(({ publish }) => publish(events, at))
})

type About = Pick<MessageLease, "organizationId" | "campaignId" | "programId" | "recipientId" | "token">

const outcomeOf = Effect.fnUntraced(function* (message: About, state: "sent" | "bounced") {
  const { organizationId, campaignId, programId, recipientId, token } = message
  const about = { id: yield* createIdentifier("event"), organizationId, campaignId, programId, recipientId }
  const data = { service_recipient_id: recipientId, service_campaign_id: campaignId, token }
  return state === "sent"
    ? composeEvent("outreach.email_sent", about, data)
    : composeEvent("outreach.email_bounced", about, { ...data, bounce_reason: "other" })
})
