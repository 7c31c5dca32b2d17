import { FailingEndpoint } from "@outreach/domain/deliveries/FailingEndpoint"
import { FailingEndpointRepository, FailingNotice } from "@outreach/domain/deliveries/FailingEndpoints"
import { Effect, Schema } from "effect"
import { adapter } from "../adapter.ts"
import { Hints } from "../events/Hints.ts"
import { decodeColumn, decodeIsTrue, first, rowsOf, toTable } from "../rowsOf.ts"

const PAGE_SIZE = 500
/** How long a claimed notice is reserved for the worker that claimed it, and the delay after a failure. */
const LEASE_MINUTES = 30

const millis = (time: string) => `(extract(epoch from ${time}) * 1000)::double precision`
/** The five minutes in which the failures started: outcomes are counted in this interval. */
const BUCKET_START = "date_bin('5 minutes', failing_since, 'epoch')"
const failingEndpoints = rowsOf(FailingEndpoint, {
  organizationId: "reader.organization_id",
  since: millis(BUCKET_START),
  noticedAt: millis("noticed_at"),
  isPending: "notice_to <> '{}'",
  succeededAt: millis("succeeded_at"),
  firstFailedAt: millis("first_at"),
  lastFailedAt: millis("last_at"),
  answeredAt: millis("answered_at"),
})
const failingNotices = rowsOf(FailingNotice, {
  organizationId: "taken.organization_id",
  organization: "organization.name",
  url: "shown_url(url)",
  since: millis("failing_since"),
  noticedAt: millis("noticed_at"),
  contacts: "notice_to",
})
const decodeContacts = decodeColumn({ contacts: Schema.Int })

/** The assignments to `endpoint_readers` for an endpoint that doesn't fail. */
export const NOT_FAILING =
  "failing_since = null, notices = 0, noticed_at = null, notice_to = '{}', notice_due_at = null"

export const FailingEndpointRepositoryPg = adapter(FailingEndpointRepository, function* (sql) {
  const hints = yield* Hints
  const bucketStart = sql.literal(BUCKET_START)
  const failed = sql.literal("client_errors + server_errors + other_statuses + no_responses > 0")
  const forget = sql.literal(NOT_FAILING)

  return {
    observe: Effect.fnUntraced(function* (after) {
      if (after === null) {
        yield* sql`
            update endpoint_readers reader set ${forget} from webhook_endpoints endpoint
            where (select plausible_now() is null) and failing_since is not null and notice_to = '{}'
              and endpoint.id = endpoint_id and enabled`
      }
      return yield* sql`
          with time as materialized (
            select now_at from plausible_now() as now_at where now_at is not null
          ), recent as materialized (
            select distinct endpoint_id from time join delivery_outcomes
              on seconds = 300 and at > now_at - interval '15 minutes' and at <= now_at and delivered = 0 and ${failed}
          )
          select ${failingEndpoints.columns} from time
          cross join endpoint_readers reader
          join webhook_endpoints endpoint on endpoint.id = reader.endpoint_id and enabled
          -- A success is found in the two days in which outcomes have five-minute intervals.
          cross join lateral (
            select max(at) as succeeded_at from delivery_outcomes
            where endpoint_id = reader.endpoint_id and delivered > 0 and at <= now_at
              and at >= greatest(coalesce(${bucketStart}, now_at - interval '1 hour'), now_at - interval '2 days')
          ) success
          cross join lateral (
            select min(at) as first_at, max(at) as last_at from delivery_outcomes
            where endpoint_id = reader.endpoint_id and ${failed} and not is_doubtful(at)
              and at > coalesce(succeeded_at, now_at - interval '1 hour') and at <= now_at
              and at >= date_bin('5 minutes', judged_since, 'epoch')
          ) failure
          left join lateral (
            select max(at) as answered_at from (
              select at, delivered + client_errors + server_errors + other_statuses as answers from delivery_outcomes
              where seconds = 300 and at < last_at and at > greatest(failing_since, last_at - interval '1 day')
              order by at desc limit 200
            ) newest where answers > 0
          ) deployment on failing_since < now_at - interval '30 minutes' and notices < 3
          where (failing_since is not null or reader.endpoint_id in (table recent)) and reader.endpoint_id > ${after ?? ""}
          order by reader.endpoint_id limit ${PAGE_SIZE}`.pipe(failingEndpoints.decode)
    }),

    note: Effect.fnUntraced(function* (endpoints) {
      const failing = endpoints.flatMap(({ endpointId, since }) => (since === null ? [] : { endpointId, since }))
      const over = endpoints.flatMap(({ endpointId, since }) => (since === null ? endpointId : []))
      if (failing.length > 0) {
        yield* sql`
            update endpoint_readers
            set failing_since = date_trunc('milliseconds', coalesce(first_failure, bucket))
            from ${toTable("given", failing, { endpointId: "text", since: "bigint" })}
            cross join lateral (select to_timestamp(given.since / 1000.0) as bucket) five_minutes
            join endpoint_readers reader on reader.endpoint_id = given.endpoint_id
            -- Null if the failures have an earlier cause, and in the five minutes of judged_since if no failure follows.
            cross join lateral (
              select min(opened_at) as first_failure from failure_groups failure_group
              where failure_group.organization_id = reader.organization_id and failure_group.endpoint_id = reader.endpoint_id
                and date_bin('5 minutes', opened_at, 'epoch') = bucket and opened_at >= reader.judged_since
            ) opened
            where endpoint_readers.endpoint_id = given.endpoint_id and endpoint_readers.failing_since is null
              and coalesce(first_failure, bucket) >= reader.judged_since`
      }
      if (over.length > 0) {
        yield* sql`update endpoint_readers set ${forget} where endpoint_id = any (${over}::text[]) and failing_since is not null`
      }
    }),

    notice: ({ endpointId, since, notices: earlier }, { notices, isNotified }) =>
      sql`
          update endpoint_readers reader set notices = ${notices}::int, noticed_at = clock_timestamp(), notice_due_at = clock_timestamp(),
            notice_to = case when ${isNotified}::boolean then contacts else '{}' end
          from organizations organization, webhook_endpoints endpoint
          where endpoint_id = ${endpointId} and endpoint.id = endpoint_id and organization.id = reader.organization_id
            and notices = ${earlier}::int and ${sql.literal(millis(BUCKET_START))} = ${since}::double precision
            and (enabled or disabled_reason = 'failing')
          returning cardinality(contacts) as contacts`.pipe(decodeContacts, first),

    disable: ({ endpointId, version }) =>
      sql`select disable_endpoint(${endpointId}, ${version}::int, 'failing') is not null as is_true`.pipe(
        decodeIsTrue,
        Effect.tap(hints.give("endpoints")),
      ),

    claim: sql`
        with due as materialized (
          select reader.endpoint_id from endpoint_readers reader
          join webhook_endpoints endpoint on endpoint.id = reader.endpoint_id
          where notice_to <> '{}' and (enabled or (notices = 3 and disabled_reason = 'failing'))
            -- A time that was written while the database's clock was ahead can be days away.
            and notice_due_at not between clock_timestamp() and clock_timestamp() + interval '1 hour'
          order by notice_due_at limit 1 for update of reader skip locked
        ), taken as (
          update endpoint_readers set notice_due_at = clock_timestamp() + make_interval(mins => ${LEASE_MINUTES}::int)
          where endpoint_id in (table due) returning *
        )
        select ${failingNotices.columns} from taken join webhook_endpoints endpoint on endpoint.id = taken.endpoint_id
        join organizations organization on organization.id = taken.organization_id
        cross join lateral (
          select coalesce(sum(client_errors), 0)::int as client_errors, coalesce(sum(server_errors), 0)::int as server_errors,
            coalesce(sum(other_statuses), 0)::int as other_statuses, coalesce(sum(no_responses), 0)::int as no_responses,
            coalesce(sum(dead_letters), 0)::int as dead_letters
          from delivery_outcomes where endpoint_id = taken.endpoint_id and at >= ${bucketStart}
        ) calls`.pipe(failingNotices.decode, first),

    // The next notice is due relative to the time when the last contact was notified.
    settle: ({ endpointId, notices }, contact) =>
      Effect.asVoid(sql`
          update endpoint_readers set notice_to = array_remove(notice_to, ${contact}),
            noticed_at = case when array_remove(notice_to, ${contact}) = '{}' then clock_timestamp() else noticed_at end
          where endpoint_id = ${endpointId} and notices = ${notices}::int and ${contact} = any (notice_to)`),
  }
})
