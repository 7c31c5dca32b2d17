import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"

/** How many changes one transaction adds. */
const BATCH_SIZE = 5000

/** Keeps the counts of campaigns: docs/decisions/0062-campaigns-are-counted-by-changes.md. */
export class CampaignCounts extends Context.Service<CampaignCounts>()("postgres/campaigns/CampaignCounts", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    // One transaction at a time, so that each change is added once and nobody waits for a row of the counts.
    const takeTurn = sql<{ taken: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended('campaign counts', 0)) as taken`

    const foldNext = Effect.gen(function* () {
      const [turn] = yield* takeTurn
      if (!turn!.taken) return false
      const [folded] = yield* sql<{ count: number }>`
        with chosen as materialized (
          select organization_id, campaign_id, id from campaign_count_changes change
          where not exists (select from organizations where id = organization_id and frozen_at is not null)
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

    return {
      /** Adds what transactions have changed to the counts, and leaves it to another worker that is at it. */
      fold: Effect.gen(function* () {
        while (yield* sql.withTransaction(foldNext)) {}
      }).pipe(orDieAs("CampaignCounts.fold")),
    }
  }),
}) {
  static readonly layer = Layer.effect(CampaignCounts, CampaignCounts.make)
}
