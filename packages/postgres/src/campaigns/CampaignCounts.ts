import type { CampaignKey } from "@outreach/domain/campaigns/Campaign"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"
import { LIFT_TIME_LIMIT } from "../sessionSettings.ts"

/** How many changes one transaction adds. */
const BATCH_SIZE = 5000

/** Keeps the counts of campaigns: docs/decisions/0062-campaigns-are-counted-by-changes.md. */
export class CampaignCounts extends Context.Service<CampaignCounts>()("postgres/campaigns/CampaignCounts", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    // One transaction at a time, so that each change is added once and nobody waits for a row of the counts.
    const takeTurn = sql<{ taken: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended('campaign counts', 0)) as taken`
    const isServed = sql.literal(`
      not exists (select from organizations where id = organization_id and frozen_at is not null)`)

    const foldNext = Effect.gen(function* () {
      const [turn] = yield* takeTurn
      if (!turn!.taken) return false
      const [folded] = yield* sql<{ count: number }>`
        with chosen as materialized (
          select organization_id, campaign_id, id from campaign_count_changes change
          where ${isServed} and exists (
            select from campaign_counts
            where organization_id = change.organization_id and campaign_id = change.campaign_id and subject = '')
          limit ${BATCH_SIZE}
        ), gone as (
          delete from campaign_count_changes change using chosen
          where change.organization_id = chosen.organization_id and change.campaign_id = chosen.campaign_id and change.id = chosen.id
          returning change.*
        ), hours as (
          insert into campaign_hours as kept (organization_id, campaign_id, hour, sent, bounced)
          select organization_id, campaign_id, hour, sum(sent), sum(bounced) from gone
          where sent <> 0 or bounced <> 0 group by organization_id, campaign_id, hour
          on conflict (organization_id, campaign_id, hour)
          do update set sent = kept.sent + excluded.sent, bounced = kept.bounced + excluded.bounced
        ), counts as (
          insert into campaign_counts as kept (
            organization_id, campaign_id, subject, recipients, published, withdrawn, sent, bounced, answered, queued, deferred, unknown,
            quarantined, opened, clicked, unsuspected_opened, unsuspected_clicked, accounts, learners, completers)
          select organization_id, campaign_id, subject, sum(recipients), sum(published), sum(withdrawn), sum(sent), sum(bounced),
            sum(answered), sum(queued), sum(deferred), sum(unknown), sum(quarantined), sum(opened), sum(clicked),
            sum(unsuspected_opened), sum(unsuspected_clicked), sum(accounts), sum(learners), sum(completers)
          from gone group by organization_id, campaign_id, subject
          on conflict (organization_id, campaign_id, subject) do update set
            recipients = kept.recipients + excluded.recipients, published = kept.published + excluded.published,
            withdrawn = kept.withdrawn + excluded.withdrawn, sent = kept.sent + excluded.sent,
            bounced = kept.bounced + excluded.bounced, answered = kept.answered + excluded.answered,
            queued = kept.queued + excluded.queued, deferred = kept.deferred + excluded.deferred,
            unknown = kept.unknown + excluded.unknown, quarantined = kept.quarantined + excluded.quarantined,
            opened = kept.opened + excluded.opened, clicked = kept.clicked + excluded.clicked,
            unsuspected_opened = kept.unsuspected_opened + excluded.unsuspected_opened,
            unsuspected_clicked = kept.unsuspected_clicked + excluded.unsuspected_clicked,
            accounts = kept.accounts + excluded.accounts, learners = kept.learners + excluded.learners,
            completers = kept.completers + excluded.completers
        )
        select count(*)::int as count from gone`
      return folded!.count === BATCH_SIZE
    })

    // What is changed meanwhile is not in the snapshot of the statement: neither its rows nor its changes.
    const countNext = Effect.gen(function* () {
      const [turn] = yield* takeTurn
      if (!turn!.taken) return undefined
      yield* sql.unsafe(LIFT_TIME_LIMIT)
      const [campaign] = yield* sql<CampaignKey>`
        select organization_id as "organizationId", id as "campaignId" from campaigns campaign
        where ${isServed} and not exists (
          select from campaign_counts
          where organization_id = campaign.organization_id and campaign_id = campaign.id and subject = '')
        order by id desc limit 1`
      if (campaign === undefined) return undefined
      const { organizationId, campaignId } = campaign
      yield* sql`
        with gone as (
          delete from campaign_count_changes where organization_id = ${organizationId} and campaign_id = ${campaignId}
        ), recipient as materialized (
          select id, npi, program_id, coalesce(test_subject, '') as subject, published_at, withdrawn_at, sent_at, bounced_at
          from recipients where organization_id = ${organizationId} and campaign_id = ${campaignId}
        ), hours as (
          insert into campaign_hours (organization_id, campaign_id, hour, sent, bounced)
          select ${organizationId}, ${campaignId}, date_trunc('hour', at, 'UTC'), count(*) filter (where what = 'sent'),
            count(*) filter (where what = 'bounced')
          from recipient cross join lateral (values ('sent', sent_at), ('bounced', bounced_at)) as each (what, at)
          where at is not null group by 3
        ), queue as (
          select count(*) - count(quarantined_at) as queued, count(*) filter (where attempts > 0) as deferred,
            count(*) filter (where unknown_outcomes > 0 and quarantined_at is null) as unknown, count(quarantined_at) as quarantined
          from messages where organization_id = ${organizationId} and campaign_id = ${campaignId}
        ), counted as (
          select subject, count(*) as recipients, count(published_at) as published, count(withdrawn_at) as withdrawn,
            count(sent_at) as sent, count(bounced_at) as bounced, count(coalesce(sent_at, bounced_at)) as answered,
            count(open.date) as opened, count(click.date) as clicked, count(open.unsuspected_date) as unsuspected_opened,
            count(click.unsuspected_date) as unsuspected_clicked, count(account.npi) as accounts, count(learner.npi) as learners,
            count(completer.npi) as completers
          from recipient
          left join unique_hits open on open.organization_id = ${organizationId} and open.recipient_id = recipient.id
            and open.type = 'outreach.email_opened'
          left join unique_hits click on click.organization_id = ${organizationId} and click.recipient_id = recipient.id
            and click.type = 'outreach.email_clicked'
          left join qualifications account on account.organization_id = ${organizationId} and account.program_id = recipient.program_id
            and account.stage = 'account_created' and account.npi = recipient.npi and account.counted_at >= sent_at
          left join qualifications learner on learner.organization_id = ${organizationId} and learner.program_id = recipient.program_id
            and learner.stage = 'learner_qualified' and learner.npi = recipient.npi and learner.counted_at >= sent_at
          left join qualifications completer on completer.organization_id = ${organizationId}
            and completer.program_id = recipient.program_id and completer.stage = 'completer_qualified'
            and completer.npi = recipient.npi and completer.counted_at >= sent_at
          group by subject
        )
        insert into campaign_counts (
          organization_id, campaign_id, subject, queued, deferred, unknown, quarantined, recipients, published, withdrawn, sent, bounced,
          answered, opened, clicked, unsuspected_opened, unsuspected_clicked, accounts, learners, completers)
        select ${organizationId}, ${campaignId}, '', queued, deferred, unknown, quarantined,
          coalesce(recipients, 0), coalesce(published, 0), coalesce(withdrawn, 0), coalesce(sent, 0), coalesce(bounced, 0),
          coalesce(answered, 0), coalesce(opened, 0), coalesce(clicked, 0), coalesce(unsuspected_opened, 0),
          coalesce(unsuspected_clicked, 0), coalesce(accounts, 0), coalesce(learners, 0), coalesce(completers, 0)
        from queue left join counted on subject = ''
        union all
        select ${organizationId}, ${campaignId}, subject, 0, 0, 0, 0, recipients, published, withdrawn, sent, bounced, answered, opened,
          clicked, unsuspected_opened, unsuspected_clicked, accounts, learners, completers
        from counted where subject <> ''`
      return campaign
    })

    return {
      /** Adds what transactions have changed to the counts, and leaves it to another worker that is at it. */
      fold: Effect.gen(function* () {
        while (yield* sql.withTransaction(foldNext)) {}
      }).pipe(orDieAs("CampaignCounts.fold")),

      /** Counts the next campaign from before there were counts, and returns it; undefined when there is none, or another worker is at it. */
      countNext: sql.withTransaction(countNext).pipe(orDieAs("CampaignCounts.countNext")),
    }
  }),
}) {
  static readonly layer = Layer.effect(CampaignCounts, CampaignCounts.make)
}
