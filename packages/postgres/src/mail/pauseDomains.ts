import type { OrganizationId } from "@outreach/domain/Identifier"
import type { DomainRejection } from "@outreach/domain/mail/MessageQueue"
import { domainOf } from "@outreach/domain/senders/Sender"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { toTable } from "../toTable.ts"

/** Pauses the sending of one organization's campaigns to domains that rejected us. */
export const pauseDomains = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  rejections: ReadonlyArray<DomainRejection>,
) {
  if (rejections.length === 0) return
  const sql = yield* SqlClient.SqlClient
  const domains = rejections.map((rejection) => ({ ...rejection, domain: domainOf(rejection.email) }))
  yield* sql`
    insert into domain_pauses (organization_id, campaign_id, domain, status, until)
    select distinct on (campaign_id, domain) ${organizationId}, campaign_id, domain, status,
      clock_timestamp() + make_interval(secs => delay_seconds)
    from ${toTable("rejection", domains, { campaignId: "text", domain: "text", status: "text", delaySeconds: "int" })}
    order by campaign_id, domain
    on conflict (organization_id, campaign_id, domain)
      do update set status = excluded.status, paused_at = excluded.paused_at, until = excluded.until`
})
