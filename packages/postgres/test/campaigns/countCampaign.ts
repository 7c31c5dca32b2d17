import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { fragment, sql } from "@outreach/testing/sql"
import { Effect } from "effect"

type Counts = Readonly<Record<string, number | string>>

/** Counts a campaign from its rows. */
export const countCampaign = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const rows = yield* sql<Counts>`
    select count(*)::int as recipients, count(published_at)::int as published,
      count(withdrawn_at)::int as withdrawn, count(sent_at)::int as sent, count(bounced_at)::int as bounced,
      (count(*) filter (where sent_at is not null or bounced_at is not null))::int as answered,
      count(opened_on)::int as opened, count(unsuspected_clicked_on)::int as unsuspected_clicked
    from recipients recipient where campaign_id = ${campaignId}`
  const queue = yield* sql<Counts>`
    select (count(*) filter (where quarantined_at is null))::int as queued, (count(*) filter (where attempts > 0))::int as deferred,
      (count(*) filter (where unknown_outcomes > 0 and quarantined_at is null))::int as unknown, count(quarantined_at)::int as quarantined
    from messages where campaign_id = ${campaignId}`
  const hours = yield* sql<Counts>`
    with hit as (
      select recipient_id, type, min(emitted_at) as first,
        min(emitted_at) filter (where not (body::jsonb->'data'->>'is_bot_suspected')::boolean) as first_unsuspected
      from events where campaign_id = ${campaignId} and type in ('outreach.email_opened', 'outreach.email_clicked') group by 1, 2
    )
    select extract(epoch from date_trunc('hour', at, 'UTC'))::int as hour, name, count(*)::int as count
    from (
      select each.* from recipients cross join lateral (
        values ('published', published_at), ('sent', sent_at), ('bounced', bounced_at)
      ) each where campaign_id = ${campaignId}
      union all
      select each.* from hit cross join lateral (values (split_part(type, '_', 2), first), ('unsuspected_' || split_part(type, '_', 2), first_unsuspected)) each
    ) each (name, at)
    where at is not null group by 1, 2 order by 1, 2`
  return { recipients: rows[0], queue: queue[0], hours }
})

/** The stored counts of a campaign: the sums, and the changes that aren't summed yet. */
export const keptRows = (campaignId: string) => fragment`(
  select * from campaign_counts where campaign_id = ${campaignId}
  union all
  select (jsonb_populate_record(null::campaign_counts, to_jsonb(change))).* from campaign_count_changes change
  where campaign_id = ${campaignId}
) each`

/** Reads the stored counts. */
export const keep = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const all = keptRows(campaignId)
  const rows = yield* sql<Counts>`
    select sum(recipients)::int as recipients, sum(published)::int as published, sum(withdrawn)::int as withdrawn,
      sum(sent)::int as sent, sum(bounced)::int as bounced, sum(answered)::int as answered, sum(opened)::int as opened,
      sum(unsuspected_clicked)::int as unsuspected_clicked
    from ${all}`
  const queue = yield* sql<Counts>`
    select sum(queued)::int as queued, sum(deferred)::int as deferred, sum(unknown)::int as unknown, sum(quarantined)::int as quarantined
    from ${all}`
  const hours = yield* sql<Counts>`
    select extract(epoch from hour)::int as hour, name, sum(count)::int as count
    from ${all} cross join lateral (
      values ('published', published), ('sent', sent), ('bounced', bounced), ('opened', opened), ('clicked', clicked),
        ('unsuspected_opened', unsuspected_opened), ('unsuspected_clicked', unsuspected_clicked)
    ) count (name, count)
    where isfinite(hour) group by 1, 2 having sum(count) <> 0 order by 1, 2`
  return { recipients: rows[0], queue: queue[0], hours }
})

/** The domain's progress, without the last minute. */
export const progressOf = (campaignId: CampaignId) => CampaignRepository.use(({ progress }) => progress(campaignId))

export const seed = seedCampaign({ recipients: 4 })
