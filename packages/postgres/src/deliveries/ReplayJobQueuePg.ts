import { EndpointNotFound } from "@outreach/domain/deliveries/Endpoint"
import {
  ReplayFinished,
  ReplayJobQueue,
  ReplayNotFound,
  type ReplaySelection,
} from "@outreach/domain/deliveries/Replays"
import { OrganizationId, ReplayId } from "@outreach/domain/Identifier"
import { Effect, Schema } from "effect"
import { adapter } from "../adapter.ts"
import { Hints } from "../events/Hints.ts"
import { decodeColumn, first, firstOr, only, rowsOf } from "../rowsOf.ts"
import { assertEndpointPresent } from "./assertEndpointPresent.ts"
import { countInGroups, selectsDeadLetter } from "./deadLetterConditions.ts"
import { decodeReplays, inRange, rangeOf, replayColumns, waitingOf } from "./replayRows.ts"

/** The number of chunks per second, if the rate allows it. */
const CHUNKS_A_SECOND = 10
/** The maximum number of dead letters that a chunk reads when the filter excludes most of them. */
const MAX_SCAN_LIMIT = 5000

const decodeIds = decodeColumn({ id: ReplayId })
const chunks = rowsOf(
  Schema.Struct({ nextInMs: Schema.NullOr(Schema.Number), organizations: Schema.NullOr(Schema.Array(OrganizationId)) }),
  {
    nextInMs: "extract(epoch from soonest.next_at - clock_timestamp())::double precision * 1000",
    organizations: "(select array_agg(distinct organization_id) from queued)",
  },
)

export const ReplayJobQueuePg = adapter(ReplayJobQueue, function* (sql) {
  const hints = yield* Hints
  const [job, running, dead] = [sql`job`, sql`running`, sql`dead`]

  const isWanted = sql`
      replayed_as is null and dead.finished_at >= job.after_at and dead.finished_at < job.before_at
      and ${selectsDeadLetter(sql, job, dead)}`

  /** The replay job to create, the query of its total, and the condition that it overlaps a running job. */
  const partsOf = (selection: ReplaySelection) => {
    if (selection.kind === "log") {
      return {
        created: rangeOf(sql, selection.range),
        total: sql`select count(*) as total from job join events on ${inRange(sql, job)}`,
        overlaps: sql`
          running.endpoint_id = job.endpoint_id and running.kind = 'log' and running.finished_at is null and running.cancelled_at is null
          and exists (
            select from events
            where ${inRange(sql, job)} and ${inRange(sql, running)} and (emitted_at, events.id) > (running.after_at, running.after_id))`,
      }
    }
    if (selection.kind === "waiting") {
      return {
        created: waitingOf(sql, selection.waiting),
        total: sql`
          select count(*) as total from job join deliveries on deliveries.endpoint_id = job.endpoint_id and owner is null
            and due_at > after_at and due_at < before_at and coalesce(deliveries.group_id = job.group_id, job.group_id is null)`,
        overlaps: sql`
          running.endpoint_id = job.endpoint_id and running.kind = 'waiting' and running.finished_at is null and running.cancelled_at is null
          and coalesce(running.group_id = job.group_id, true)`,
      }
    }
    const { organizationId, endpointId, groupId, status, type, reason, from, to } = selection.filter
    return {
      created: sql`
        select ${organizationId ?? null}::text as organization_id, ${endpointId ?? null}::text as endpoint_id,
          ${groupId ?? null}::text as group_id, ${status ?? null}::int as status, ${type ?? null}::text as event_type,
          ${reason ?? null}::text as reason, null::text[] as event_types, ${from ?? null}::timestamptz as from_at,
          ${to ?? null}::timestamptz as to_at, coalesce(${from ?? null}::timestamptz, '-infinity') as after_at,
          least(${to ?? null}::timestamptz, now) as before_at, now as created_at
        from clock_timestamp() as now`,
      total: sql`select count(*) as total from job join dead_letters dead on ${isWanted}`,
      overlaps: sql`
          running.kind = 'dead_letters' and running.finished_at is null and running.cancelled_at is null and exists (
            select from dead_letters dead
            where (dead.finished_at, dead.id) > (running.after_at, running.after_id) and dead.finished_at < running.before_at
              and ${selectsDeadLetter(sql, running, dead)} and ${isWanted})`,
    }
  }
  const find = (replayId: ReplayId) =>
    sql`select ${replayColumns} from replay_jobs where id = ${replayId}`.pipe(
      decodeReplays,
      firstOr(ReplayNotFound, { replayId }),
    )

  return {
    find,

    lock: sql`select pg_advisory_xact_lock(hashtextextended('replay jobs', 0))`,

    findOverlapping: (selection) => {
      const { created, overlaps } = partsOf(selection)
      return sql`
          with job as materialized (${created})
          select running.id from replay_jobs running cross join job where ${overlaps} order by running.id limit 1`.pipe(
        decodeIds,
        first,
      )
    },

    create: (selection, rate) => {
      const { created, total } = partsOf(selection)
      const rows = sql`
          with job as materialized (${created}), meant as materialized (${total})
          insert into replay_jobs (
            kind, organization_id, endpoint_id, group_id, status, event_type, reason, event_types, from_at, to_at, after_at, before_at, rate,
            total, next_at, created_at, finished_at)
          select ${selection.kind}, organization_id, endpoint_id, group_id, status, event_type, reason, event_types, from_at, to_at, after_at,
            before_at, ${rate}::int, total, created_at, created_at, case when total = 0 then created_at end
          from job, meant
          returning ${replayColumns}`.pipe(decodeReplays, Effect.tap(hints.give("replays")))
      if (selection.kind === "dead_letters") return only(rows)
      const { endpointId } = selection.kind === "log" ? selection.range : selection.waiting
      return rows.pipe(
        Effect.tap((made) => (made.length > 0 ? Effect.void : assertEndpointPresent(sql, endpointId))),
        firstOr(EndpointNotFound, { endpointId }),
      )
    },

    cancel: Effect.fnUntraced(function* (replayId) {
      const rows = yield* sql`
          update replay_jobs set cancelled_at = coalesce(cancelled_at, clock_timestamp())
          where id = ${replayId} and finished_at is null
          returning ${replayColumns}`.pipe(decodeReplays)
      if (rows[0] !== undefined) return rows[0]
      const { replayed } = yield* find(replayId)
      return yield* new ReplayFinished({ replayId, replayed })
    }),

    replayNextChunk: Effect.gen(function* () {
      const rows = yield* sql`
          with job as materialized (
            -- A chunk reads as many rows as it sends, and more after a filter excluded some. With 100,000 dead letters a chunk of 10 takes 1.6 ms
            -- (4 ms if it reads 2,000); in a log of 1,000,000 events 1.3 ms (3.7 ms).
            select *, greatest(chunk, scan_limit) as scan_size
            from replay_jobs cross join lateral (select ceil(rate / ${CHUNKS_A_SECOND}::numeric)::int as chunk) size
            where finished_at is null and cancelled_at is null and next_at <= clock_timestamp()
            order by next_at limit 1 for update of replay_jobs skip locked
          ), scanned as materialized (
            select dead.organization_id, dead.id, dead.endpoint_id, dead.event_id, dead.reason, dead.group_id, dead.finished_at as at
            from job cross join dead_letters_after(after_at, after_id, before_at, scan_size, job.group_id) dead
            where kind = 'dead_letters'
            union all
            select job.organization_id, event.id, job.endpoint_id, event.id, null, null, emitted_at
            from job cross join events_after(job.organization_id, event_types, after_at, after_id, before_at, scan_size) event
            where kind = 'log'
            union all
            select job.organization_id, due.id, job.endpoint_id, due.event_id, null, due.group_id, due.due_at
            from job cross join waiting_after(job.endpoint_id, after_at, after_id, before_at, scan_size) due
            where kind = 'waiting'
          ), chosen as materialized (
            select scanned.* from scanned cross join job
            where kind = 'log' or ${selectsDeadLetter(sql, job, sql`scanned`)} and (kind = 'dead_letters' or not exists (
              -- A delivery that failed again since then waits for its next attempt as usual.
              select from delivery_attempts made
              where made.organization_id = scanned.organization_id and delivery_id = scanned.id
                and started_at + make_interval(secs => coalesce(latency_ms, 0) / 1000.0) >= job.created_at))
            order by scanned.at, scanned.id limit (select chunk from job)
          ), held as materialized (
            -- Locks in the same order as other replays, and skips rows that were replayed while this statement waited. The lateral join forces a
            -- primary key look-up per row, even if the planner's estimate of the table is too low.
            select dead.row_ctid from chosen cross join lateral (
              select ctid as row_ctid from dead_letters
              where organization_id = chosen.organization_id and id = chosen.id and replayed_as is null
              for update
            ) dead
            where (select kind from job) = 'dead_letters'
          ), marked as (
            -- An array, because a join on ctid may scan the whole table.
            update dead_letters set replayed_as = make_id('dlv') where ctid = any (array(select row_ctid from held))
            returning *
          ), ${countInGroups("marked", { opened: "-1", stored: "0" })},
          due as materialized (
            -- Skips rows that a worker is taking: they are due already.
            select waiting.row_ctid from chosen cross join lateral (
              select ctid as row_ctid from deliveries
              where organization_id = chosen.organization_id and id = chosen.id and owner is null
              for update skip locked
            ) waiting
            where (select kind from job) = 'waiting'
          ), retried as (
            update deliveries set due_at = least(due_at, clock_timestamp()) where ctid = any (array(select row_ctid from due))
            returning organization_id
          ), inserted as (
            insert into deliveries (organization_id, id, endpoint_id, event_id, due_at, replay)
            select organization_id, replayed_as, endpoint_id, event_id, clock_timestamp(), true from marked
            union all
            -- Inserted in log order, so that they are due in that order.
            (select chosen.organization_id, make_id('dlv'), chosen.endpoint_id, chosen.event_id, clock_timestamp(), true
            from chosen cross join job where kind = 'log' order by chosen.at, chosen.id)
            returning organization_id
          ), queued as (
            select * from inserted union all select * from retried
          ), step as (
            select job.*, (select count(*) from queued) as queued, (select count(*) from chosen) = chunk as full_chunk,
              (select count(*) from scanned) < scan_size as to_the_end
            from job
          ), seen as (
            -- A full chunk ends at its last row; otherwise every row that was read is finished.
            select last.at, last.id from step cross join lateral (
              select at, id from chosen where full_chunk union all select at, id from scanned where not full_chunk
            ) last
            order by last.at desc, last.id desc limit 1
          ), advanced as (
            update replay_jobs set replayed = step.replayed + queued,
              after_at = coalesce((select at from seen), step.after_at),
              after_id = coalesce((select id from seen), step.after_id),
              scan_limit = case when full_chunk
                then (select count(*) from scanned where (at, id) <= (select at, id from seen))
                else least(scan_size * 2, ${MAX_SCAN_LIMIT}::int) end,
              -- After a delay only one chunk is sent early, so that a pause isn't followed by a burst.
              next_at = greatest(step.next_at + make_interval(secs => queued / step.rate::double precision), clock_timestamp()),
              finished_at = case when to_the_end and not full_chunk then clock_timestamp() end
            from step where replay_jobs.id = step.id
            returning replay_jobs.*
          )
          select ${replayColumns}, ${chunks.columns}
          from (select min(next_at) as next_at from replay_jobs where finished_at is null and cancelled_at is null) soonest
          cross join grouped
          left join advanced on true`
      const { nextInMs, organizations } = yield* only(chunks.decode(Effect.succeed(rows)))
      for (const organizationId of organizations ?? []) yield* hints.give("due", organizationId)
      const [replay] = yield* decodeReplays(Effect.succeed(rows.filter(({ id }) => id !== null)))
      return replay === undefined ? { nextInMs } : { replay }
    }),
  }
})
