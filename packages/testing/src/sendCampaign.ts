import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { commandCampaign, publishChunk } from "@outreach/domain/campaigns/Campaigns"
import { composeEvent } from "@outreach/domain/events/Event"
import { type CampaignId, createIdentifier } from "@outreach/domain/Identifier"
import type { MessageLease } from "@outreach/domain/mail/Message"
import { type MessageClaim, MessageQueue } from "@outreach/domain/mail/MessageQueue"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Schedules a campaign, publishes all of it, and opens its window. */
export const sendCampaign = Effect.fnUntraced(function* (campaignId: CampaignId) {
  yield* commandCampaign(campaignId, "schedule")
  while (yield* publishChunk()) {}
  yield* (yield* CampaignRepository).openAndComplete
})

/** Leases so many messages of all campaigns, without any rate unless `options` names one. */
export const claimMessages = (limit: number, options: Partial<MessageClaim> = {}) =>
  MessageQueue.use((queue) =>
    queue.claim({ limit, leaseSeconds: 60, perMinute: null, perDomainMinute: null, ...options }),
  )

/** Settles a message as sent; returns whether its lease was still held. */
export const settleSent = Effect.fnUntraced(function* (lease: MessageLease) {
  const { organizationId, campaignId, programId, recipientId, token } = lease
  const about = { id: yield* createIdentifier("event"), organizationId, campaignId, programId, recipientId }
  const data = { service_recipient_id: recipientId, service_campaign_id: campaignId, token }
  const event = composeEvent("outreach.email_sent", about, data)
  return yield* (yield* MessageQueue).settle(lease, { state: "sent", event })
})

/** Ends the campaigns of earlier tests: a claim takes what is due in any campaign. */
export const cancelCampaigns = SqlClient.SqlClient.use((sql) => sql`update campaigns set status = 'cancelled'`)
