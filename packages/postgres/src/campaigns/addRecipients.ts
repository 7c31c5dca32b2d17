import { type Campaign, IMPORTABLE } from "@outreach/domain/campaigns/Campaign"
import { CampaignNotFound, CampaignNotInStatus, QuotaReached } from "@outreach/domain/campaigns/CampaignErrors"
import type { Candidate, Registration } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { commitTimestamp } from "../events/commitTimestamp.ts"

/** Adds recipients to a campaign, as part of a transaction; returns what became of each candidate, in order. */
export const addRecipients = Effect.fnUntraced(function* (
  campaignId: CampaignId,
  candidates: ReadonlyArray<Candidate>,
) {
  const sql = yield* SqlClient.SqlClient
  // The share lock keeps the campaign from being scheduled while rows are added that its publication would miss.
  const campaigns = yield* sql<Pick<Campaign, "organizationId" | "programId" | "status">>`
    select organization_id as "organizationId", program_id as "programId", status
    from campaigns where id = ${campaignId} for share`
  const campaign = campaigns[0] ?? (yield* new CampaignNotFound({ campaignId }))
  const { organizationId, programId, status } = campaign
  if (!IMPORTABLE.includes(status)) {
    return yield* new CampaignNotInStatus({ campaignId, status, wanted: [...IMPORTABLE] })
  }
  // With the clock in hand: who is suppressed meanwhile waits for this transaction, and withdraws whom it adds.
  const at = yield* commitTimestamp(organizationId)
  const over = yield* sql<{ over: boolean }>`select quota_reached(${organizationId}, ${programId}) as over`
  if (over[0]!.over) return yield* new QuotaReached({ campaignId, programId })
  const registered = yield* sql<{ id: string }>`
    insert into recipients
      (organization_id, id, campaign_id, program_id, token, npi, email, created_at, updated_at)
    select ${organizationId}, id, ${campaignId}, ${programId}, token, npi, email, ${at}::timestamptz, ${at}::timestamptz
    from unnest(
      ${candidates.map((c) => c.id)}::text[], ${candidates.map((c) => c.token)}::text[],
      ${candidates.map((c) => c.npi)}::text[], ${candidates.map((c) => c.email)}::text[]
    ) as candidate (id, token, npi, email)
    where not is_suppressed(${organizationId}, ${programId}, npi, email)
    on conflict do nothing
    returning id`
  const ids = new Set(registered.map((row) => row.id))
  const refused = candidates.filter((candidate) => !ids.has(candidate.id))
  if (refused.length === 0) return candidates.map(() => "registered" as const)
  const conflicts = yield* sql<{ id: string; why: Registration }>`
    select candidate.id, case
        when bool_or(npi_twin.npi is not null and lower(npi_twin.email) = lower(candidate.email)) then 'already_there'
        when bool_or(is_suppressed(${organizationId}, ${programId}, candidate.npi, candidate.email)) then 'suppressed'
        when bool_or(npi_twin.npi is not null) then 'npi_taken'
        when bool_or(email_twin.npi is not null) then 'email_taken'
        else 'token_taken' end as why
    from unnest(
      ${refused.map((c) => c.id)}::text[], ${refused.map((c) => c.npi)}::text[], ${refused.map((c) => c.email)}::text[]
    ) as candidate (id, npi, email)
    left join recipients npi_twin on npi_twin.organization_id = ${organizationId}
      and npi_twin.campaign_id = ${campaignId} and npi_twin.npi = candidate.npi
    left join recipients email_twin on email_twin.organization_id = ${organizationId}
      and email_twin.campaign_id = ${campaignId} and lower(email_twin.email) = lower(candidate.email)
    group by candidate.id`
  const why = new Map(conflicts.map((row) => [row.id, row.why]))
  return candidates.map((candidate) => why.get(candidate.id) ?? ("registered" as const))
})
