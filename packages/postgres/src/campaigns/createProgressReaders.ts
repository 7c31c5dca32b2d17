import { CampaignFailure, CampaignProgress, DomainPause, QuarantinedMessage } from "@outreach/domain/campaigns/Campaign"
import type { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { SqlClient } from "effect/sql"
import type { Failing } from "../adapter.ts"
import { decodeRow, decodeRows } from "../rowsOf.ts"

const decodeProgress = decodeRow(CampaignProgress.fields)
const decodePauses = decodeRows(DomainPause.fields)
const decodeFailures = decodeRows(CampaignFailure.fields)
const decodeQuarantined = decodeRows(QuarantinedMessage.fields)

/** Creates the functions that read how far a campaign has come, and why messages were not sent. */
export const createProgressReaders = (
  sql: SqlClient.SqlClient,
): Pick<Failing<CampaignRepository["Service"]>, "progress" | "pauses" | "failures" | "quarantined"> => ({
  // A recipient who was sent to in the last minute was updated in it, by which an index finds them. The clock of the statement does not change
  // while it runs, so that the planner knows how few they are.
  progress: (campaignId) =>
    sql`
      select recipients::int, published::int, queued::int, deferred::int, unknown::int, quarantined::int,
        withdrawn::int, sent::int, (
          select count(*)::int from recipients
          where organization_id = campaign.organization_id and campaign_id = campaign.id
            and updated_at > statement_timestamp() - interval '1 minute' and sent_at > statement_timestamp() - interval '1 minute'
        ) as "sentInLastMinute", bounced::int, (
          select count(*)::int from complaints where organization_id = campaign.organization_id and campaign_id = campaign.id
        ) as complained, answered::int
      from campaigns campaign cross join lateral campaign_totals(campaign.organization_id, campaign.id)
      where campaign.id = ${campaignId}`.pipe(decodeProgress),

  pauses: (campaignId) =>
    sql`
      select domain, status, until from domain_pauses
      where campaign_id = ${campaignId} and until > clock_timestamp() order by until, domain`.pipe(decodePauses),

  failures: (campaignId) =>
    sql`
      select failure_class as class, failure_code as code, count(*)::int as messages
      from messages join campaigns campaign using (organization_id)
      where campaign.id = ${campaignId} and campaign_id = campaign.id and failure_class is not null and quarantined_at is null
      group by failure_class, failure_code order by messages desc, class, code limit 20`.pipe(decodeFailures),

  quarantined: (campaignId) =>
    sql`
      select recipient_id as "recipientId", recipient.token, unknown_outcomes as "unknownOutcomes", failure_class as class,
        failure_code as code, quarantined_at as "quarantinedAt"
      from messages message
      join campaigns campaign on campaign.organization_id = message.organization_id and campaign.id = message.campaign_id
      join recipients recipient on recipient.organization_id = message.organization_id and recipient.id = message.recipient_id
      where campaign.id = ${campaignId} and quarantined_at is not null
      order by quarantined_at, recipient_id limit 100`.pipe(decodeQuarantined),
})
