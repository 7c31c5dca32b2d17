import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { explainUnsent } from "@outreach/backoffice/campaigns/explainUnsent"
import { SendingReader } from "@outreach/backoffice/campaigns/SendingReader"
import { consistentRead } from "@outreach/backoffice/consistentRead"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { CLOSED } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { checkCampaign } from "@outreach/domain/campaigns/Preflights"
import type { CampaignId } from "@outreach/domain/Identifier"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { TestMailSettings } from "@outreach/mail/smtpSettings"
import { Effect } from "effect"

export const MAX_DOMAINS = 50

/** Reads a campaign, its progress and the reason why it doesn't send, and checks it until it is closed. */
export const readCampaign = Effect.fnUntraced(function* (campaignId: CampaignId, now: number) {
  const found = yield* consistentRead(readRows(campaignId))
  // The checks query name servers.
  const checks = CLOSED.includes(found.campaign.status) ? [] : yield* checkCampaign(campaignId)
  const { progress, failures } = found.sending
  const cause = explainUnsent(found.sending, now)
  return { ...found, progress, failures, cause, checks, canSendTest: (yield* yield* TestMailSettings) !== null }
})

const readRows = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const repository = yield* CampaignRepository
  const reader = yield* CampaignReader
  const campaign = yield* repository.find(campaignId)
  const { organizationId } = campaign
  const key = { organizationId, campaignId }
  return {
    campaign,
    ...(yield* Effect.all({
      totals: reader.totals(key),
      sending: (yield* SendingReader).find(key),
      hours: reader.hours(key),
      domains: reader.domains(key, MAX_DOMAINS),
      lateRefusals: reader.lateRefusals(key, MAX_DOMAINS),
      quarantined: repository.quarantined(campaignId),
      organization: (yield* OrganizationReader).find(organizationId),
      summaries: repository.summaries(organizationId, [campaignId]),
      sender: (yield* SenderRepository).ofCampaign(campaignId),
    })),
  }
})

export type CampaignView = Effect.Success<ReturnType<typeof readCampaign>>
