import { DatabaseService } from "../adapter.ts"

export const SAMPLE_MINUTES = 5

/** For how many days samples are kept: a day of the week beside the same one before. */
const KEPT_DAYS = 8

/** Keeps what the gauges of the deployment and of each organization were, for the operator console. */
export class GaugeSamples extends DatabaseService<GaugeSamples>()("postgres/today/GaugeSamples", (sql) => {
  const interval = sql`make_interval(mins => ${SAMPLE_MINUTES}::int)`
  return {
    /**
     * Takes the sample of these minutes, unless another worker has.
     *
     * The rows are inserted in one order, so that workers that insert them together wait for each other and never in a circle.
     */
    take: sql`
        with sample as materialized (select date_bin(${interval}, statement_timestamp(), 'epoch') as at)
        insert into gauge_samples
        select organization_id, sample.at, sent,
          coalesce(greatest(0, extract(epoch from statement_timestamp() - oldest_due_at)), 0)::int,
          breakers_open, dead_letters, inbox_quarantined, domains_refusing
        from sample cross join lateral read_gauges(null, sample.at - ${interval}, sample.at)
        where not exists (select from gauge_samples where organization_id = '' and sampled_at = sample.at)
        order by organization_id
        on conflict do nothing`,

    /** Deletes the samples that are too old to be shown. */
    forget: sql`
        delete from gauge_samples where sampled_at < plausible_now() - make_interval(days => ${KEPT_DAYS}::int)`,
  }
}) {}
