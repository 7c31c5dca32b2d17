import type { OrganizationId } from "@outreach/domain/Identifier"
import type { DomainRejection } from "@outreach/domain/mail/MessageQueue"
import { domainOf } from "@outreach/domain/senders/Sender"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

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
