import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { publishChunk } from "@outreach/domain/campaigns/publishRecipients"
import type { CampaignId, RecipientId } from "@outreach/domain/Identifier"
import { claimMessages as claimDue } from "@outreach/domain/mail/claimMessages"
import type { MessageLease } from "@outreach/domain/mail/Message"
import type { MessageClaim } from "@outreach/domain/mail/MessageQueue"
import { sendMessage } from "@outreach/domain/mail/Outreach"
import { type MailOutcome, Transport } from "@outreach/domain/mail/Transport"
import { Effect } from "effect"
import { seedCampaign } from "./seedCampaign.ts"
import { sql } from "./sql.ts"

/** Schedules a campaign, publishes all of it, and opens its window. */
export const sendCampaign = Effect.fnUntraced(function* (campaignId: CampaignId) {
  yield* scheduleCampaign(campaignId)
  while (yield* publishChunk()) {}
  yield* (yield* CampaignRepository).openAndComplete
})

/** Leases the given number of messages, of the campaigns with the next turns, without a rate unless `options` sets one. */
export const claimMessages = Effect.fnUntraced(function* (limit: number, options: Partial<MessageClaim> = {}) {
  // A test may have changed the due time of a message without updating the turns. Rows are locked in one order, because tests claim concurrently.
  yield* sql`
    with late as materialized (
      select organization_id, campaign_id from campaign_turns where next_at > clock_timestamp()
      order by organization_id, campaign_id for update
    )
    update campaign_turns turn set next_at = clock_timestamp() from late
    where turn.organization_id = late.organization_id and turn.campaign_id = late.campaign_id`
  yield* sql`
    with late as materialized (
      select organization_id from organization_turns where next_at > clock_timestamp() order by organization_id for update
    )
    update organization_turns turn set next_at = clock_timestamp() from late where turn.organization_id = late.organization_id`
  return yield* claimDue({ limit, leaseSeconds: 60, perMinute: null, perDomainMinute: null, ...options })
})

/** Sends a message to a mail server that responds with an outcome, and settles it accordingly. */
export const sendWith = (lease: MessageLease, outcome: MailOutcome) => {
  const composed = { envelope: { from: "", to: lease.email }, message: new Uint8Array() }
  const options = { release: Effect.void, isHeld: () => true }
  return sendMessage(lease, Effect.succeed(composed), options).pipe(
    Effect.provideService(Transport, { deliver: () => Effect.succeed(outcome) }),
  )
}

/** Settles a message as sent. Returns whether its lease was still valid. */
export const settleSent = (lease: MessageLease) =>
  Effect.map(sendWith(lease, { _tag: "Accepted", reply: "250 OK" }), ({ settled }) => settled)

/** Ends the campaigns of earlier tests, because a claim takes due messages of every campaign. */
export const cancelCampaigns = sql`update campaigns set status = 'cancelled'`

/** Does the same, and clears their turns and used rates. */
export const resetSending = Effect.gen(function* () {
  yield* cancelCampaigns
  for (const table of ["campaign_turns", "organization_turns", "send_rates"]) yield* sql`delete from ${sql(table)}`
})

/** Ends all other campaigns, and seeds one whose messages are sent. Returns it with its recipients in order of their numbers. */
export const seedSentCampaign = Effect.fnUntraced(function* (options: Parameters<typeof seedCampaign>[0]) {
  yield* cancelCampaigns
  const seeded = yield* seedCampaign(options)
  yield* sendCampaign(seeded.campaign.id)
  for (const lease of yield* claimMessages(options.recipients)) yield* settleSent(lease)
  const recipients = yield* sql<{ id: RecipientId; token: string }>`
    select id, token from recipients where campaign_id = ${seeded.campaign.id} order by npi`
  return { ...seeded, recipients }
})
