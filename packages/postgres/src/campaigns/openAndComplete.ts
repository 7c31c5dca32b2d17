import { CLOSED, WORKER_TRANSITIONS } from "@outreach/domain/campaigns/Campaign"
import { Effect, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { Hints } from "../events/Hints.ts"
import { decodeValue } from "../rowsOf.ts"
import { countMessages, MESSAGE_STATE } from "./campaignChanges.ts"

const { open, complete } = WORKER_TRANSITIONS
const decodeWait = decodeValue({ ms: Schema.Number })

/** Advances campaigns: opens those in their send window, schedules the active ones, completes the finished ones. */
export const openAndComplete = (
  sql: SqlClient.SqlClient,
  hints: Hints["Service"],
): Effect.Effect<number, SqlError.SqlError> =>
  Effect.gen(function* () {
    // The tables of turns are unlogged and not replicated, so missing turns are added again. In key order, to avoid deadlocks between workers.
    const turns = yield* sql`
      with opened as (
        update campaigns campaign set status = ${open.to}, updated_at = clock_timestamp()
        where status = any (${open.from}::text[]) and window_start <= clock_timestamp()
        returning organization_id, id
      ), sending as (
        select organization_id, id, true as is_new from opened
        union all select organization_id, id, false from campaigns where status = ${open.to}
      ), turn as (
        insert into campaign_turns (organization_id, campaign_id, next_at)
        select organization_id, id, '-infinity' from sending
        where is_new or not exists (
          select from campaign_turns
          where organization_id = sending.organization_id and campaign_id = id and next_at < clock_timestamp() + interval '2 minutes')
        order by organization_id, id
        on conflict (organization_id, campaign_id) do update set next_at = excluded.next_at
      )
      insert into organization_turns (organization_id, next_at)
      select distinct organization_id, '-infinity'::timestamptz from (
        select organization_id, is_new from sending union all select organization_id, false from campaign_turns
      ) each
      where is_new or not exists (
        select from organization_turns
        where organization_id = each.organization_id and next_at < clock_timestamp() + interval '2 minutes')
      order by organization_id
      on conflict (organization_id) do update set next_at = excluded.next_at
      returning 1`
    if (turns.length > 0) yield* hints.give("messages")
    // plausible_now() keeps the messages of an expired window while the clock isn't trusted.
    // A leased message may still be reported as sent, so its campaign stays open. An empty campaign stays open for imports.
    yield* sql`
      update campaigns campaign set status = ${complete.to}, updated_at = clock_timestamp()
      where status = any (${complete.from}::text[]) and not exists (
        select from messages message
        where message.organization_id = campaign.organization_id and message.campaign_id = campaign.id
          and message.quarantined_at is null and (coalesce(campaign.window_end > plausible_now(), true) or message.lease_until > clock_timestamp()))
        and (campaign.window_end <= plausible_now()
          or exists (select from recipients where organization_id = campaign.organization_id and campaign_id = campaign.id))`
    // Possibly delivered messages are quarantined, because only an operator can find out their outcome.
    yield* sql`
      with left_over as (
        select message.organization_id, message.recipient_id
        from messages message
        join campaigns campaign on campaign.organization_id = message.organization_id and campaign.id = message.campaign_id
        where campaign.status = any (${CLOSED}::text[]) and message.quarantined_at is null
          and (message.lease_until is null or message.lease_until < clock_timestamp())
        for update of message skip locked
      ), quarantined as (
        update messages message set quarantined_at = clock_timestamp(), due_at = 'infinity', lease_token = null, lease_until = null
        from left_over
        where message.organization_id = left_over.organization_id and message.recipient_id = left_over.recipient_id
          and message.unknown_outcomes > 0
        returning ${MESSAGE_STATE}
      ), gone as (
        delete from messages message using left_over
        where message.organization_id = left_over.organization_id and message.recipient_id = left_over.recipient_id
          and message.unknown_outcomes = 0
        returning ${MESSAGE_STATE}
      ) ${countMessages(`
          select 1 as sign, quarantined.* from quarantined
          union all select -1, organization_id, campaign_id, attempts, unknown_outcomes, null from quarantined
          union all select -1, gone.* from gone`)}`
    // The clock of the windows may not be trusted yet when they are over. The worker that settles the last messages gives a hint.
    return yield* sql`
      select greatest(1000, extract(epoch from min(due_at) - clock_timestamp()) * 1000)::double precision as ms from (
        select window_start as due_at from campaigns where status = any (${open.from}::text[])
        union all select window_end from campaigns where status = any (${complete.from}::text[])
        union all select clock_timestamp() + interval '1 day'
      ) campaign`.pipe(decodeWait)
  })
