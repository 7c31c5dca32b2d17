import { Effect } from "effect"
import { DatabaseService } from "../adapter.ts"
import { decodeCount } from "../rowsOf.ts"

const COUNTS = [
  ...["recipients", "published", "withdrawn", "sent", "bounced", "answered"],
  ...["queued", "deferred", "unknown", "quarantined"],
  ...["opened", "clicked", "unsuspected_opened", "unsuspected_clicked", "accounts", "learners", "completers"],
  ...["refused_later", "complained", "unsubscribed"],
]

const BATCH_SIZE = 5000

/** Keeps the counts of campaigns: docs/decisions/0023-the-statement-that-changes-rows-also-counts-them.md. */
export class CampaignCounts extends DatabaseService<CampaignCounts>()("postgres/campaigns/CampaignCounts", (sql) => {
  const columns = (write: (name: string) => string) => sql.literal(COUNTS.map(write).join(", "))

  // Only one worker folds at a time, so that none waits for a row of the counts. A change that another worker has already added isn't deleted here.
  const foldNext = sql`
        with chosen as materialized (
          select organization_id, campaign_id, id from campaign_count_changes change
          where (select pg_try_advisory_xact_lock(hashtextextended('campaign counts', 0)))
          limit ${BATCH_SIZE}
        ), gone as (
          delete from campaign_count_changes change using chosen
          where change.organization_id = chosen.organization_id and change.campaign_id = chosen.campaign_id and change.id = chosen.id
          returning change.*
        ), counts as (
          insert into campaign_counts as kept (organization_id, campaign_id, hour, ${columns((name) => name)})
          select organization_id, campaign_id, hour, ${columns((name) => `sum(${name})`)}
          from gone group by organization_id, campaign_id, hour
          on conflict (organization_id, campaign_id, hour)
          do update set ${columns((name) => `${name} = kept.${name} + excluded.${name}`)}
        )
        select count(*)::int as count from gone`.pipe(decodeCount)

  return {
    /** Adds the recorded changes to the counts. Does nothing while another worker does this. */
    fold: Effect.gen(function* () {
      while ((yield* foldNext) === BATCH_SIZE) {}
    }),
  }
}) {}
