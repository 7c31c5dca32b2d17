import type { Replay } from "@outreach/domain/deliveries/Replay"
import { ReplayBook, ReplayFinished, ReplayNotFound } from "@outreach/domain/deliveries/ReplayBook"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dieNaming } from "./DatabaseFailure.ts"

/** Chunks a second, for a rate that is high enough for them. */
const CHUNKS_A_SECOND = 10
/** How many dead letters a chunk looks at, of which a filter may leave few. */
const LOOKED_AT_TOGETHER = 2000

/** Keeps the replay jobs in PostgreSQL. */
export const ReplayBookPg = Layer.effect(
  ReplayBook,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(`
      id, case when cancelled_at is not null then 'cancelled' when finished_at is not null then 'finished' else 'running' end as state,
      total, replayed, rate, endpoint_id as "endpointId", event_type as "eventType", reason, set_aside_from as "from",
      set_aside_to as "to", created_at as "createdAt", finished_at as "finishedAt", cancelled_at as "cancelledAt"`)

    const find = Effect.fnUntraced(function* (replayId: string) {
      const rows = yield* sql<Replay>`select ${columns} from replay_jobs where id = ${replayId}`
      return rows[0] ?? (yield* new ReplayNotFound({ replayId }))
    })

    return {
      create: Effect.fn("ReplayBook.create")(function* (filter, rate) {
        const rows = yield* sql<Replay>`
          with job as materialized (
            select clock_timestamp() as created_at, ${filter.endpointId ?? null}::text as endpoint_id,
              ${filter.eventType ?? null}::text as event_type, ${filter.reason ?? null}::text as reason,
              ${filter.from ?? null}::timestamptz as set_aside_from, ${filter.to ?? null}::timestamptz as set_aside_to
          ), meant as materialized (
            select count(*) as total from job join dead_letters dead on replayed_as is null
              and finished_at >= coalesce(set_aside_from, '-infinity') and finished_at < least(set_aside_to, job.created_at)
              and (job.endpoint_id is null or dead.endpoint_id = job.endpoint_id)
              and (job.reason is null or dead.reason = job.reason)
              and (event_type is null or exists (
                select from events where organization_id = dead.organization_id and id = dead.event_id and type = event_type))
          )
          insert into replay_jobs (
            endpoint_id, event_type, reason, set_aside_from, set_aside_to, rate, total, after_at, next_at, created_at, finished_at)
          select endpoint_id, event_type, reason, set_aside_from, set_aside_to, ${rate}::int, total,
            coalesce(set_aside_from, '-infinity'), created_at, created_at, case when total = 0 then created_at end
          from job, meant
          returning ${columns}`
        return rows[0]!
      }, dieNaming("ReplayBook.create")),

      list: Effect.fn("ReplayBook.list")(
        (limit) => sql<Replay>`select ${columns} from replay_jobs order by id desc limit ${limit}`,
        dieNaming("ReplayBook.list"),
      ),

      find: Effect.fn("ReplayBook.find")(find, dieNaming("ReplayBook.find")),

      cancel: Effect.fn("ReplayBook.cancel")(function* (replayId) {
        const rows = yield* sql<Replay>`
          update replay_jobs set cancelled_at = coalesce(cancelled_at, clock_timestamp())
          where id = ${replayId} and finished_at is null
          returning ${columns}`
        if (rows[0] !== undefined) return rows[0]
        const { replayed } = yield* find(replayId)
        return yield* new ReplayFinished({ replayId, replayed })
      }, dieNaming("ReplayBook.cancel")),

      advance: sql<(Replay | { readonly id: null }) & { readonly nextInMs: number | null }>`
        with job as materialized (
          select *, ceil(rate / ${CHUNKS_A_SECOND}::numeric)::int as chunk from replay_jobs
          where finished_at is null and cancelled_at is null and next_at <= clock_timestamp()
          order by next_at limit 1 for update skip locked
        ), looked as materialized (
          select dead.* from job
          cross join dead_letters_after(after_at, after_id, least(set_aside_to, job.created_at), ${LOOKED_AT_TOGETHER}::int) dead
        ), chosen as materialized (
          select looked.* from looked cross join job
          where (job.endpoint_id is null or looked.endpoint_id = job.endpoint_id)
            and (job.reason is null or looked.reason = job.reason)
            and (event_type is null or exists (
              select from events where organization_id = looked.organization_id and id = looked.event_id and type = event_type))
          order by looked.finished_at, looked.id limit (select chunk from job)
        ), held as materialized (
          -- In one order for all who replay, and only what nobody replayed while this one waited for it.
          select dead.organization_id, dead.id from dead_letters dead join chosen using (organization_id, id)
          where dead.replayed_as is null
          order by dead.finished_at, dead.id for update of dead
        ), marked as (
          update dead_letters dead set replayed_as = make_id('dlv') from held
          where dead.organization_id = held.organization_id and dead.id = held.id
          returning dead.organization_id, endpoint_id, event_id, replayed_as
        ), queued as (
          insert into deliveries (organization_id, id, endpoint_id, event_id, due_at, replay)
          select organization_id, replayed_as, endpoint_id, event_id, clock_timestamp(), true from marked
          returning id
        ), step as (
          select job.*, (select count(*) from queued) as queued, (select count(*) from chosen) = chunk as full_chunk,
            (select count(*) from looked) < ${LOOKED_AT_TOGETHER}::int as to_the_end
          from job
        ), seen as (
          -- A full chunk ends at its last row; otherwise all that was looked at is done with.
          select last.finished_at, last.id from step cross join lateral (
            select finished_at, id from chosen where full_chunk union all select finished_at, id from looked where not full_chunk
          ) last
          order by last.finished_at desc, last.id desc limit 1
        ), advanced as (
          update replay_jobs set replayed = step.replayed + queued,
            after_at = coalesce((select finished_at from seen), step.after_at),
            after_id = coalesce((select id from seen), step.after_id),
            -- What one chunk was late the next may make good, and no more: nobody pays for a pause with a burst.
            next_at = greatest(step.next_at + make_interval(secs => queued / step.rate::double precision), clock_timestamp()),
            finished_at = case when to_the_end and not full_chunk then clock_timestamp() end
          from step where replay_jobs.id = step.id
          returning replay_jobs.*
        )
        select ${columns}, "nextInMs"
        from (
          select extract(epoch from min(next_at) - clock_timestamp())::double precision * 1000 as "nextInMs"
          from replay_jobs where finished_at is null and cancelled_at is null
        ) soonest
        left join advanced on true
        left join lateral (select pg_notify('deliveries', '') where exists (select from queued)) woken on true`.pipe(
        Effect.map(([row]) => {
          const { nextInMs, ...replay } = row!
          return replay.id === null ? { nextInMs } : { replay: replay as Replay }
        }),
        dieNaming("ReplayBook.advance"),
      ),
    }
  }),
)
