import type { CampaignId, OrganizationId } from "@outreach/domain/Identifier"
import type { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { domainOf } from "@outreach/domain/senders/Sender"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** A rejection that is about us, and for how long its campaign leaves the domain of the address alone. */
export interface DomainRejection {
  readonly campaignId: CampaignId
  readonly email: EmailAddress
  readonly status: string
  readonly delaySeconds: number
}

/** Lets campaigns of one organization leave the domains alone that rejected us. */
export const pauseDomains = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  rejections: ReadonlyArray<DomainRejection>,
) {
  if (rejections.length === 0) return
  const sql = yield* SqlClient.SqlClient
  const column = (read: (rejection: DomainRejection) => string | number) => rejections.map(read)
  yield* sql`
    insert into domain_pauses (organization_id, campaign_id, domain, status, until)
    select distinct on (campaign_id, domain) ${organizationId}, campaign_id, domain, status,
      clock_timestamp() + make_interval(secs => delay)
    from unnest(
      ${column(({ campaignId }) => campaignId)}::text[], ${column(({ email }) => domainOf(email))}::text[],
      ${column(({ status }) => status)}::text[], ${column(({ delaySeconds }) => delaySeconds)}::int[]
    ) as rejection (campaign_id, domain, status, delay)
    order by campaign_id, domain
    on conflict (organization_id, campaign_id, domain)
      do update set status = excluded.status, paused_at = excluded.paused_at, until = excluded.until`
})
