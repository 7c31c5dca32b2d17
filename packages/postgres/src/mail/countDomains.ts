import type { OrganizationId } from "@outreach/domain/Identifier"
import type { DomainAnswer } from "@outreach/domain/mail/MessageQueue"
import { domainOf } from "@outreach/domain/senders/Sender"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Counts the replies of domains to campaigns of one organization, and keeps the last reply of each domain that didn't accept a message. */
export const countDomains = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  answers: ReadonlyArray<DomainAnswer>,
) {
  if (answers.length > 0) yield* domainsCounted(yield* SqlClient.SqlClient, organizationId, answers)
})

/** The statement of `countDomains`, for use within a larger statement. */
export const domainsCounted = (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  answers: ReadonlyArray<DomainAnswer>,
) => {
  const column = (read: (answer: DomainAnswer) => string) => answers.map(read)
  // In a fixed order, because transactions that requeue messages don't lock the clock.
  return sql`
    insert into campaign_domains as kept (
      organization_id, campaign_id, domain, sent, deferred, refused, mailbox_not_found, mailbox_disabled, domain_not_found,
      address_invalid, other, last_reply, last_reply_at)
    select ${organizationId}, campaign_id, domain,
      count(*) filter (where answer = 'sent'), count(*) filter (where answer = 'deferred'), count(*) filter (where answer = 'refused'),
      count(*) filter (where answer = 'mailbox_not_found'), count(*) filter (where answer = 'mailbox_disabled'),
      count(*) filter (where answer = 'domain_not_found'), count(*) filter (where answer = 'address_invalid'),
      count(*) filter (where answer = 'other'),
      (array_agg(reply order by place desc) filter (where reply <> ''))[1],
      case when bool_or(reply <> '') then clock_timestamp() end
    from unnest(
      ${column(({ campaignId }) => campaignId)}::text[], ${column(({ email }) => domainOf(email))}::text[],
      ${column(({ answer }) => answer)}::text[], ${column(({ reply }) => reply ?? "")}::text[]
    ) with ordinality as answer (campaign_id, domain, answer, reply, place)
    group by campaign_id, domain order by campaign_id, domain
    on conflict (organization_id, campaign_id, domain) do update set
      sent = kept.sent + excluded.sent, deferred = kept.deferred + excluded.deferred, refused = kept.refused + excluded.refused,
      mailbox_not_found = kept.mailbox_not_found + excluded.mailbox_not_found,
      mailbox_disabled = kept.mailbox_disabled + excluded.mailbox_disabled,
      domain_not_found = kept.domain_not_found + excluded.domain_not_found,
      address_invalid = kept.address_invalid + excluded.address_invalid, other = kept.other + excluded.other,
      last_reply = coalesce(excluded.last_reply, kept.last_reply), last_reply_at = coalesce(excluded.last_reply_at, kept.last_reply_at)`
}
