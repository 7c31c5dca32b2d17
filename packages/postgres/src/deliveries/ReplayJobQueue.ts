import type { DeadLetterReason } from "@outreach/domain/deliveries/Delivery"
import { EndpointNotFound } from "@outreach/domain/deliveries/EndpointRepository"
import type { EndpointId, FailureGroupId, OrganizationId, ReplayId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"
import { Hints } from "../events/Hints.ts"
import { awaitsDeadLetter, selectsDeadLetter } from "./awaitsDeadLetter.ts"
import type { DeadLetterFilter } from "./DeadLetterRepository.ts"

/**
 * A job that delivers again at a steady rate: dead letters that were there when it was made, or a range of an endpoint's log,
 * delivered or not.
 */
export interface Replay {
  readonly id: ReplayId
  readonly kind: "dead_letters" | "log"
  readonly state: "running" | "finished" | "cancelled"
  /** How many dead letters or events were meant when the job was made. */
  readonly total: number
  /** How many it has replayed. At the end, what is missing to `total` was replayed by others, or purged. */
  readonly replayed: number
  /** How many dead letters others replayed before it came to them. */
  readonly replayedByOthers: number
  /** Deliveries a second. */
  readonly rate: number
  /** What the dead letters must fulfil; null for any. */
  readonly groupId: FailureGroupId | null
  readonly status: number | null
  readonly endpointId: EndpointId | null
  readonly eventType: string | null
  readonly reason: DeadLetterReason | null
  /** The types of a log's events; null for all. */
  readonly eventTypes: ReadonlyArray<string> | null
  /** When the deliveries became dead letters, or the events published. */
  readonly from: Timestamp | null
  readonly to: Timestamp | null
  readonly createdAt: Timestamp
  readonly finishedAt: Timestamp | null
  readonly cancelledAt: Timestamp | null
}

/** No replay has this id. */
export class ReplayNotFound extends Schema.TaggedError<ReplayNotFound>()("ReplayNotFound", {
  replayId: Schema.String,
}) {
  override get message(): string {
    return `No replay ${this.replayId}.`
  }
}

/** The replay has finished, so it cannot be cancelled. */
export class ReplayFinished extends Schema.TaggedError<ReplayFinished>()("ReplayFinished", {
  replayId: Schema.String,
  replayed: Schema.Int,
}) {
  override get message(): string {
    return `The replay ${this.replayId} has finished, with ${this.replayed} replayed; there is nothing to cancel.`
  }
}

/** A running replay is yet to send some of what another one was asked for. */
export class ReplayOverlaps extends Schema.TaggedError<ReplayOverlaps>()("ReplayOverlaps", {
  replayId: Schema.String,
}) {
  override get message(): string {
    return `The replay ${this.replayId} is running, and has some of these still to send. Wait until it has ended, or cancel it first.`
  }
}

/** How many deliveries a second a replay may ask for. */
export const MAX_REPLAYS_PER_SECOND = 10_000

/** Events of an endpoint's organization. */
export interface LogRange {
  readonly endpointId: EndpointId
  /** Published at or after, and before. */
  readonly from: Timestamp
  readonly to: Timestamp
  /** Default the types that the endpoint receives. */
  readonly eventTypes?: ReadonlyArray<string>
}

/** Chunks a second, for a rate that is high enough for them. */
const CHUNKS_A_SECOND = 10
/** How many dead letters or events a chunk looks at, of which a filter may leave few. */
const SCAN_BATCH_SIZE = 2000

/** Keeps the jobs that replay dead letters and ranges of logs, and carries them out chunk by chunk. */
export class ReplayJobQueue extends Context.Service<ReplayJobQueue>()("postgres/deliveries/ReplayJobQueue", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const hints = yield* Hints
    const columns = sql.literal(`
      id, case when cancelled_at is not null then 'cancelled' when finished_at is not null then 'finished' else 'running' end as state,
      kind, total, replayed, replayed_by_others as "replayedByOthers", group_id as "groupId", status, rate, endpoint_id as "endpointId", event_type as "eventType", reason, event_types as "eventTypes",
      from_at as "from", to_at as "to", created_at as "createdAt", finished_at as "finishedAt", cancelled_at as "cancelledAt"`)

    /** A range of a log up to where its organization's clock stands: what is published later is not meant, whatever its time. */
    const rangeOf = ({ endpointId, from, to, eventTypes }: LogRange) => sql`
      select endpoint.id as endpoint_id, endpoint.organization_id,
        case when ${eventTypes === undefined}::boolean then endpoint.event_types else ${eventTypes ?? null}::text[] end as event_types,
        ${from}::timestamptz as from_at, ${to}::timestamptz as to_at,
        least(${to}::timestamptz, last + interval '1 microsecond') as before_at
      from webhook_endpoints endpoint join organization_clock clock on clock.organization_id = endpoint.organization_id
      where endpoint.id = ${endpointId}`
    const inRange = (job: Statement.Fragment) => sql`
      events.organization_id = ${job}.organization_id and emitted_at >= ${job}.from_at and emitted_at < ${job}.before_at
      and (${job}.event_types is null or type = any (${job}.event_types))`
    const [job, running, dead] = [sql`job`, sql`running`, sql`dead`]

    /** Creates a job, unless a running one overlaps. They are created one after the other: each sees those that were created before. */
    const createUnlessOverlapping = <E>(
      overlapping: Effect.Effect<ReadonlyArray<{ readonly id: ReplayId }>, E>,
      insert: Effect.Effect<ReadonlyArray<Replay>, E>,
    ) =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`select pg_advisory_xact_lock(hashtextextended('replay jobs', 0))`
          const [found] = yield* overlapping
          if (found !== undefined) return yield* new ReplayOverlaps({ replayId: found.id })
          return (yield* insert)[0]
        }),
      )

    const find = Effect.fnUntraced(function* (replayId: ReplayId) {
      const rows = yield* sql<Replay>`select ${columns} from replay_jobs where id = ${replayId}`
      return rows[0] ?? (yield* new ReplayNotFound({ replayId }))
    })

    return {
      /**
       * Creates a job of the dead letters that match now; one of none has finished at once. `rate` is 1 to `MAX_REPLAYS_PER_SECOND`.
       * Fails with `ReplayOverlaps` while a running job is yet to replay one of them.
       */
      create: Effect.fn("ReplayJobQueue.create")(function* (filter: DeadLetterFilter, rate: number) {
        const wanted = sql`
          with job as materialized (
            select clock_timestamp() as created_at, ${filter.endpointId ?? null}::text as endpoint_id,
              ${filter.organizationId ?? null}::text as organization_id, ${filter.groupId ?? null}::text as group_id,
              ${filter.status ?? null}::int as status,
              ${filter.eventType ?? null}::text as event_type, ${filter.reason ?? null}::text as reason,
              ${filter.from ?? null}::timestamptz as from_at, ${filter.to ?? null}::timestamptz as to_at
          )`
        const isWanted = sql`
          replayed_as is null and dead.finished_at >= coalesce(job.from_at, '-infinity') and dead.finished_at < least(job.to_at, job.created_at)
          and ${selectsDeadLetter(sql, job, dead)}`
        const created = yield* createUnlessOverlapping(
          sql<{ id: ReplayId }>`
            ${wanted}
            select running.id from replay_jobs running cross join job
            where exists (select from dead_letters dead where ${awaitsDeadLetter(sql, running, dead)} and ${isWanted})
            order by running.id limit 1`,
          sql<Replay>`
            ${wanted}, meant as materialized (select count(*) as total from job join dead_letters dead on ${isWanted})
            insert into replay_jobs (
              kind, organization_id, group_id, status, endpoint_id, event_type, reason, from_at, to_at, rate, total, after_at, before_at,
              next_at, created_at, finished_at)
            select 'dead_letters', organization_id, group_id, status, endpoint_id, event_type, reason, from_at, to_at, ${rate}::int, total,
              coalesce(from_at, '-infinity'), least(to_at, created_at), created_at, created_at, case when total = 0 then created_at end
            from job, meant
            returning ${columns}`,
        )
        return created!
      }, orDieAs("ReplayJobQueue.create")),

      /**
       * Creates a job of the events that a range of a log holds now, delivered or not; one of none has finished at once.
       * Fails with `ReplayOverlaps` while a running job is yet to send one of them to the endpoint.
       */
      createOfLog: Effect.fn("ReplayJobQueue.createOfLog")(function* (range: LogRange, rate: number) {
        const created = yield* createUnlessOverlapping(
          sql<{ id: ReplayId }>`
            with job as materialized (${rangeOf(range)})
            select running.id from replay_jobs running join job on job.endpoint_id = running.endpoint_id
            where running.kind = 'log' and running.finished_at is null and running.cancelled_at is null and exists (
              select from events
              where ${inRange(job)} and ${inRange(running)} and (emitted_at, events.id) > (running.after_at, running.after_id))
            order by running.id limit 1`,
          sql<Replay>`
            with job as materialized (${rangeOf(range)}), meant as materialized (
              select count(events.id) as total, clock_timestamp() as created_at from job left join events on ${inRange(job)}
            )
            insert into replay_jobs (
              kind, organization_id, endpoint_id, event_types, from_at, to_at, rate, total, after_at, before_at, next_at, created_at,
              finished_at)
            select 'log', organization_id, endpoint_id, event_types, from_at, to_at, ${rate}::int, total, from_at, before_at,
              meant.created_at, meant.created_at, case when total = 0 then meant.created_at end
            from job, meant
            returning ${columns}`,
        )
        return created ?? (yield* new EndpointNotFound({ endpointId: range.endpointId }))
      }, orDieAs("ReplayJobQueue.createOfLog")),

      /** Counts the events that a job of a range would send. */
      countInLog: Effect.fn("ReplayJobQueue.countInLog")(function* (range: LogRange) {
        const rows = yield* sql<{ count: number }>`
          with job as materialized (${rangeOf(range)})
          select count(events.id)::int as count from job left join events on ${inRange(job)} group by endpoint_id`
        return (rows[0] ?? (yield* new EndpointNotFound({ endpointId: range.endpointId }))).count
      }, orDieAs("ReplayJobQueue.countInLog")),

      /** Lists jobs, newest first: all, or those of one organization alone. */
      list: Effect.fn("ReplayJobQueue.list")(
        (limit: number, organizationId: OrganizationId | null = null) => sql<Replay>`
          select ${columns} from replay_jobs job
          where ${organizationId}::text is null or ${organizationId} = coalesce(
            organization_id, (select organization_id from webhook_endpoints where id = job.endpoint_id))
          order by id desc limit ${limit}`,
        orDieAs("ReplayJobQueue.list"),
      ),

      find: Effect.fn("ReplayJobQueue.find")(find, orDieAs("ReplayJobQueue.find")),

      /** Lets a job end where it is; what it has replayed stays so. Again is as once. */
      cancel: Effect.fn("ReplayJobQueue.cancel")(function* (replayId: ReplayId) {
        const rows = yield* sql<Replay>`
          update replay_jobs set cancelled_at = coalesce(cancelled_at, clock_timestamp())
          where id = ${replayId} and finished_at is null
          returning ${columns}`
        if (rows[0] !== undefined) return rows[0]
        const { replayed } = yield* find(replayId)
        return yield* new ReplayFinished({ replayId, replayed })
      }, orDieAs("ReplayJobQueue.cancel")),

      /**
       * Carries out the next chunk of the job that has waited longest, all of it or nothing, and never two of one job at once.
       *
       * Returns the job as it stands then; or, when none was due, in how many milliseconds one is, null for none.
       */
      replayNextChunk: sql<
        (Replay | { readonly id: null }) & {
          readonly nextInMs: number | null
          readonly organizations: ReadonlyArray<OrganizationId> | null
        }
      >`
        with job as materialized (
          select *, ceil(rate / ${CHUNKS_A_SECOND}::numeric)::int as chunk from replay_jobs
          where finished_at is null and cancelled_at is null and next_at <= clock_timestamp()
          order by next_at limit 1 for update skip locked
        ), looked as materialized (
          select dead.organization_id, dead.id, dead.endpoint_id, dead.event_id, dead.reason, dead.group_id, dead.finished_at as at
          from job cross join dead_letters_after(after_at, after_id, before_at, ${SCAN_BATCH_SIZE}::int, job.group_id) dead
          where kind = 'dead_letters'
          union all
          select job.organization_id, event.id, job.endpoint_id, event.id, null, null, emitted_at
          from job cross join events_after(job.organization_id, event_types, after_at, after_id, before_at, ${SCAN_BATCH_SIZE}::int) event
          where kind = 'log'
        ), chosen as materialized (
          select looked.* from looked cross join job
          where kind = 'log' or ${selectsDeadLetter(sql, job, sql`looked`)}
          order by looked.at, looked.id limit (select chunk from job)
        ), held as materialized (
          -- In one order for all who replay, and only what nobody replayed while this one waited for it. Found one by one through the
          -- primary key, however few rows the planner takes the table to have.
          select dead.place from chosen cross join lateral (
            select ctid as place from dead_letters
            where organization_id = chosen.organization_id and id = chosen.id and replayed_as is null
            for update
          ) dead
          where (select kind from job) = 'dead_letters'
        ), marked as (
          -- By an array, because a join on places may read the whole table.
          update dead_letters set replayed_as = make_id('dlv') where ctid = any (array(select place from held))
          returning *
        ), grouped as materialized (
          select count_failures(jsonb_agg(change)) from (
            select organization_id, group_id, finished_at, -1 as opened, 0 as stored from marked
          ) change
        ), queued as (
          insert into deliveries (organization_id, id, endpoint_id, event_id, due_at, replay)
          select organization_id, replayed_as, endpoint_id, event_id, clock_timestamp(), true from marked
          union all
          -- Due in the order of the log.
          (select chosen.organization_id, make_id('dlv'), chosen.endpoint_id, chosen.event_id, clock_timestamp(), true
          from chosen cross join job where kind = 'log' order by chosen.at, chosen.id)
          returning organization_id
        ), step as (
          select job.*, (select count(*) from queued) as queued, (select count(*) from chosen) = chunk as full_chunk,
            (select count(*) from looked) < ${SCAN_BATCH_SIZE}::int as to_the_end
          from job
        ), seen as (
          -- A full chunk ends at its last row; otherwise all that was looked at is done with.
          select last.at, last.id from step cross join lateral (
            select at, id from chosen where full_chunk union all select at, id from looked where not full_chunk
          ) last
          order by last.at desc, last.id desc limit 1
        ), advanced as (
          update replay_jobs set replayed = step.replayed + queued,
            after_at = coalesce((select at from seen), step.after_at),
            after_id = coalesce((select id from seen), step.after_id),
            -- What one chunk was late the next may make good, and no more: nobody pays for a pause with a burst.
            next_at = greatest(step.next_at + make_interval(secs => queued / step.rate::double precision), clock_timestamp()),
            finished_at = case when to_the_end and not full_chunk then clock_timestamp() end
          from step where replay_jobs.id = step.id
          returning replay_jobs.*
        )
        select ${columns}, "nextInMs", (select array_agg(distinct organization_id) from queued) as organizations
        from (
          select extract(epoch from min(next_at) - clock_timestamp())::double precision * 1000 as "nextInMs"
          from replay_jobs where finished_at is null and cancelled_at is null
        ) soonest
        cross join grouped
        left join advanced on true`.pipe(
        Effect.flatMap(
          Effect.fnUntraced(function* ([row]) {
            const { nextInMs, organizations, ...replay } = row!
            for (const organizationId of organizations ?? []) yield* hints.give("due", organizationId)
            return replay.id === null ? { nextInMs } : { replay: replay as Replay }
          }),
        ),
        orDieAs("ReplayJobQueue.replayNextChunk"),
      ),
    }
  }),
}) {
  static readonly layer = Layer.effect(ReplayJobQueue, ReplayJobQueue.make)
}
