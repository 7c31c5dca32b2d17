import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { reader } from "../adapter.ts"
import { decodeCount, literal } from "../rowsOf.ts"

// A statement that changes recipients or messages also appends the change to campaign_count_changes; there is no trigger:
// docs/decisions/0023-the-statement-that-changes-rows-also-counts-them.md

/** Columns that a statement returns of each stamped `recipient`, for `countRecipients`. */
export const RECIPIENT_STATE = literal(`
  recipient.organization_id, recipient.campaign_id, recipient.updated_at, recipient.published_at,
  recipient.withdrawn_at, recipient.sent_at, recipient.bounced_at`)

/** Columns that a statement returns of each `message`, for `countMessages`. */
export const MESSAGE_STATE = literal(
  "message.organization_id, message.campaign_id, message.attempts, message.unknown_outcomes, message.quarantined_at",
)

/** Appends the new states of recipients, as part of the statement that stamped them and returned them as `recipients`. */
export const countRecipients = (recipients: string): Statement.Fragment =>
  literal(`
    insert into campaign_count_changes (organization_id, campaign_id, hour, published, withdrawn, sent, bounced, answered)
    select organization_id, campaign_id, date_trunc('hour', updated_at, 'UTC'), count(*) filter (where published_at = updated_at),
      count(*) filter (where withdrawn_at = updated_at), count(*) filter (where sent_at = updated_at),
      count(*) filter (where bounced_at = updated_at), count(*) filter (where least(sent_at, bounced_at) = updated_at)
    from ${recipients} where updated_at in (published_at, withdrawn_at, sent_at, bounced_at)
    group by organization_id, campaign_id, updated_at`)

/**
 * Appends changes of messages, as part of the statement that made them. `messages` is a query with the columns of `MESSAGE_STATE` and
 * `sign`: 1 for a message's new state, -1 for its old state.
 */
export const countMessages = (messages: string): Statement.Fragment =>
  literal(`
    insert into campaign_count_changes (organization_id, campaign_id, queued, deferred, unknown, quarantined)
    select * from (
      select organization_id, campaign_id, coalesce(sum(sign) filter (where quarantined_at is null), 0) as queued,
        coalesce(sum(sign) filter (where attempts > 0), 0) as deferred,
        coalesce(sum(sign) filter (where unknown_outcomes > 0 and quarantined_at is null), 0) as unknown,
        coalesce(sum(sign) filter (where quarantined_at is not null), 0) as quarantined
      from (${messages}) message group by organization_id, campaign_id
    ) change
    where queued <> 0 or deferred <> 0 or unknown <> 0 or quarantined <> 0`)

/**
 * Appends complaints or unsubscriptions (or, with -1, their withdrawal), as part of the statement that stored them. `changed` is a query
 * with the columns organization_id, recipient_id and at (the time).
 */
export const countFeedback = (
  count: "complained" | "unsubscribed",
  sign: 1 | -1,
  changed: string,
): Statement.Fragment =>
  literal(`
    insert into campaign_count_changes (organization_id, campaign_id, hour, ${count})
    select organization_id, campaign_id, date_trunc('hour', at, 'UTC') as hour, ${sign} * count(*)
    from (${changed}) changed join recipients recipient using (organization_id)
    where recipient.id = recipient_id group by organization_id, campaign_id, hour`)

/** Deletes the messages that match a condition, and counts the deletions; returns a row for each. */
export const deleteMessages = (sql: SqlClient.SqlClient, condition: Statement.Fragment) => sql`
  with gone as (
    delete from messages message where ${condition} returning -1 as sign, ${MESSAGE_STATE}
  ), tallied as (${countMessages("select * from gone")})
  select from gone`

const COUNTS = [
  ...["recipients", "published", "withdrawn", "sent", "bounced", "answered"],
  ...["queued", "deferred", "unknown", "quarantined"],
  ...["opened", "clicked", "unsuspected_opened", "unsuspected_clicked", "accounts", "learners", "completers"],
  ...["refused_later", "complained", "unsubscribed"],
]

const BATCH_SIZE = 5000

/** Keeps the counts of campaigns: docs/decisions/0023-the-statement-that-changes-rows-also-counts-them.md. */
export const CampaignCounts = reader("CampaignCounts", (sql) => {
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
})
