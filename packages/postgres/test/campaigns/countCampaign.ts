import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
import { Mailer, type MailOutcome } from "@outreach/domain/mail/Mailer"
import type { MessageLease } from "@outreach/domain/mail/Message"
import { sendMessage } from "@outreach/domain/mail/Outreach"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

type Counts = Readonly<Record<string, number | string>>

/** Counts a campaign from its rows, by subject. */
export const countCampaign = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<Counts>`
    select coalesce(test_subject, '') as subject, count(*)::int as recipients, count(published_at)::int as published,
      count(withdrawn_at)::int as withdrawn, count(sent_at)::int as sent, count(bounced_at)::int as bounced,
      (count(*) filter (where sent_at is not null or bounced_at is not null))::int as answered,
      count(opened_on)::int as opened, count(unsuspected_clicked_on)::int as unsuspected_clicked
    from recipients recipient where campaign_id = ${campaignId} group by test_subject order by 1`
  const queue = yield* sql<Counts>`
    select (count(*) filter (where quarantined_at is null))::int as queued, (count(*) filter (where attempts > 0))::int as deferred,
      (count(*) filter (where unknown_outcomes > 0 and quarantined_at is null))::int as unknown, count(quarantined_at)::int as quarantined,
      (select coalesce(sum(messages), 0)::int from late_refusal_counts where campaign_id = ${campaignId}) as refused_later
    from messages where campaign_id = ${campaignId}`
  const hours = yield* sql<Counts>`
    select extract(epoch from hour)::int as hour, sum(sent)::int as sent, sum(bounced)::int as bounced from (
      select date_trunc('hour', sent_at) as hour, 1 as sent, 0 as bounced from recipients where campaign_id = ${campaignId}
      union all select date_trunc('hour', bounced_at), 0, 1 from recipients where campaign_id = ${campaignId}
    ) each where hour is not null group by 1 order by 1`
  return { subjects: rows, queue: queue[0], hours }
})

/** The same as it is kept. */
export const keep = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const sql = yield* SqlClient.SqlClient
  const all = sql`(
    select counts.* from campaigns cross join lateral counts_of_campaign(organization_id, campaigns.id) counts where campaigns.id = ${campaignId}
  ) each`
  const rows = yield* sql<Counts>`
    select subject, sum(recipients)::int as recipients, sum(published)::int as published, sum(withdrawn)::int as withdrawn,
      sum(sent)::int as sent, sum(bounced)::int as bounced, sum(answered)::int as answered, sum(opened)::int as opened,
      sum(unsuspected_clicked)::int as unsuspected_clicked
    from ${all} group by subject having sum(recipients) <> 0 order by 1`
  const queue = yield* sql<Counts>`
    select sum(queued)::int as queued, sum(deferred)::int as deferred, sum(unknown)::int as unknown, sum(quarantined)::int as quarantined,
      sum(refused_later)::int as refused_later
    from ${all}`
  const hours = yield* sql<Counts>`
    select extract(epoch from hour)::int as hour, sum(sent)::int as sent, sum(bounced)::int as bounced
    from ${all} where sent <> 0 or bounced <> 0 group by 1 order by 1`
  return { subjects: rows, queue: queue[0], hours }
})

/** The domain's progress, without the last minute. */
export const progressOf = Effect.fnUntraced(function* (campaignId: CampaignId) {
  return yield* (yield* CampaignRepository).progress(campaignId)
})

export const settle = (lease: MessageLease, outcome: MailOutcome) => {
  const mailer = Mailer.of({ send: (_mail, _lease, record) => record(outcome) })
  const sending = { campaignId: lease.campaignId, beginBy: 0n, begin: () => {}, isHeld: () => true }
  return sendMessage(lease, Effect.never, { sending, answered: Effect.void }).pipe(
    Effect.provideService(Mailer, mailer),
  )
}

/** Seeds a campaign of four recipients. */
export const seed = (isTest: boolean) =>
  seedCampaign({
    recipients: 4,
    ...(isTest && { subjectTest: { subjectB: "Another subject", share: 100, afterSeconds: null } }),
  })
