import type { DeadLetterReason } from "@outreach/domain/deliveries/Delivery"
import type { DeliveryId, EndpointId, FailureGroupId, OrganizationId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"
import { Hints } from "../events/Hints.ts"
import { awaitsDeadLetter } from "./awaitsDeadLetter.ts"

/** Which dead letters are meant: all conditions must hold. */
export interface DeadLetterFilter {
  readonly organizationId?: OrganizationId
  /** Of this group of failures. */
  readonly groupId?: FailureGroupId
  /** With this HTTP status at the last attempt. */
  readonly status?: number
  readonly endpointId?: EndpointId
  readonly eventType?: string
  readonly reason?: DeadLetterReason
  /** Dead letters since this time or later, and before. */
  readonly from?: Timestamp
  readonly to?: Timestamp
}

/** Which dead letters a purge means, beside their age. */
export interface PurgeFilter extends Omit<DeadLetterFilter, "from" | "to"> {
  /** Whether those stay that died by a clock which was not believed, since nobody knows their age. Default false. */
  readonly keepsDoubtful?: boolean
}

/** A place in the order of dead letters by age. */
export interface DeadLetterPosition {
  readonly finishedAt: Timestamp
  readonly id: DeliveryId
}

/**
 * Creates the condition that a row of `dead_letters` is of an organization, of a group of failures, and of groups with a status.
 *
 * It leaves out what is not asked for, so that a plan for all groups never reads 100,000 dead letters for the few of one.
 */
export const isDeadLetterOf = (
  sql: SqlClient.SqlClient,
  { organizationId, groupId, status }: DeadLetterFilter,
  dead: Statement.Fragment,
) =>
  sql.and([
    ...(organizationId === undefined ? [] : [sql`${dead}.organization_id = ${organizationId}`]),
    ...(groupId === undefined ? [] : [sql`${dead}.group_id = ${groupId}`]),
    ...(status === undefined
      ? []
      : [
          // Few groups, asked for once: the dead letters are read in their order until enough are found.
          sql`${dead}.group_id = any (array(select id from failure_groups where status = ${status}::int))`,
        ]),
  ])

/** How many dead letters one step of a purge looks at. */
const PURGE_BATCH_SIZE = 2000

/** Sends dead letters again, and deletes old ones. */
export class DeadLetterRepository extends Context.Service<DeadLetterRepository>()(
  "postgres/deliveries/DeadLetterRepository",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const hints = yield* Hints

      const isMeant = (filter: PurgeFilter) => sql`
      ${isDeadLetterOf(sql, filter, sql`dead`)}
      and not (${filter.keepsDoubtful ?? false} and is_doubtful(dead.finished_at))
      and (${filter.endpointId ?? null}::text is null or dead.endpoint_id = ${filter.endpointId ?? null})
      and (${filter.reason ?? null}::text is null or dead.reason = ${filter.reason ?? null})
      and (${filter.eventType ?? null}::text is null or exists (
        select from events
        where organization_id = dead.organization_id and id = dead.event_id and type = ${filter.eventType ?? null}))`

      const purge = Effect.fnUntraced(function* (
        filter: PurgeFilter,
        before: Timestamp,
        after: DeadLetterPosition | null,
      ) {
        const start = after ?? { finishedAt: "-infinity", id: "" }
        const range = (isReplayed: Statement.Fragment) => sql`(
        select organization_id, id, finished_at from dead_letters
        where replayed_as ${isReplayed} and (finished_at, id) > (${start.finishedAt}::timestamptz, ${start.id})
          and finished_at < ${before}::timestamptz
        order by finished_at, id limit ${PURGE_BATCH_SIZE}::int)`
        const rows = yield* sql<{ purged: number; finishedAt: Timestamp | null; id: DeliveryId | null }>`
        with looked as materialized (
          select * from (${range(sql`is null`)} union all ${range(sql`is not null`)}) either
          order by finished_at, id limit ${PURGE_BATCH_SIZE}::int
        ), held as (
          -- One that is being replayed at this moment is left to its replay.
          select dead.organization_id, dead.id from looked join dead_letters dead using (organization_id, id)
          where ${isMeant(filter)}
          for update of dead skip locked
        ), purged as (
          delete from dead_letters dead using held where dead.organization_id = held.organization_id and dead.id = held.id
          returning dead.*
        ), grouped as materialized (
          select count_failures(jsonb_agg(change)) from (
            select organization_id, group_id, finished_at, -(replayed_as is null)::int as opened, -1 as stored from purged
          ) change
        ), last as materialized (select finished_at, id from looked order by finished_at desc, id desc limit 1)
        select (select count(*)::int from purged) as purged, finished_at as "finishedAt", id from grouped left join last on true`
        const { purged, finishedAt, id } = rows[0]!
        return { purged, next: finishedAt === null || id === null ? null : { finishedAt, id } }
      })

      return {
        /** Gives a dead letter a new delivery of the same event, due now, from attempt 1; the old one keeps its history. False when it is none, or was replayed before. */
        replay: Effect.fn("DeadLetterRepository.replay")(function* (deliveryId: DeliveryId) {
          const rows = yield* sql<{ organizationId: OrganizationId }>`
          with job as materialized (
            -- Jobs are locked before dead letters, as a job locks them.
            select * from replay_jobs where finished_at is null and cancelled_at is null order by id for update
          ), dead as (
            update dead_letters set replayed_as = make_id('dlv')
            where id = ${deliveryId} and replayed_as is null and (select count(*) from job) >= 0
            returning *
          ), counted as (
            update replay_jobs counting set replayed_by_others = counting.replayed_by_others + 1
            from job, dead where counting.id = job.id and ${awaitsDeadLetter(sql, sql`job`, sql`dead`)}
          ), queued as (
            insert into deliveries (organization_id, id, endpoint_id, event_id, due_at, replay)
            select organization_id, replayed_as, endpoint_id, event_id, clock_timestamp(), true from dead
            returning organization_id
          ), grouped as materialized (
            select count_failures(jsonb_agg(change)) from (
              select organization_id, group_id, finished_at, -1 as opened, 0 as stored from dead
            ) change
          )
          select organization_id as "organizationId" from queued cross join grouped`
          for (const { organizationId } of rows) yield* hints.give("due", organizationId)
          return rows.length > 0
        }, orDieAs("DeadLetterRepository.replay")),

        /** Counts the dead letters of that age, replayed or not; returns the time before which they became dead letters, too. */
        countOld: Effect.fn("DeadLetterRepository.countOld")(function* (filter: PurgeFilter, olderThanSeconds: number) {
          const rows = yield* sql<{ before: Timestamp; count: number; replayed: number }>`
          with age as materialized (
            select clock_timestamp() - make_interval(secs => ${olderThanSeconds}::double precision) as before
          )
          select before, count(dead.id)::int as count, count(replayed_as)::int as replayed
          from age left join dead_letters dead on finished_at < before and ${isMeant(filter)}
          group by before`
          return rows[0]!
        }, orDieAs("DeadLetterRepository.countOld")),

        /** Returns the time so many days ago; null while the database's clock is not believed. */
        daysAgo: Effect.fn("DeadLetterRepository.daysAgo")(function* (days: number) {
          const rows = yield* sql<{ at: Timestamp | null }>`
            select plausible_now() - make_interval(days => ${days}::int) as at`
          return rows[0]!.at
        }, orDieAs("DeadLetterRepository.daysAgo")),

        /** Deletes matching dead letters, replayed or not, from `after` on, of at most some thousand that it looks at; returns how many, and where to go on. */
        purge: Effect.fn("DeadLetterRepository.purge")(purge, orDieAs("DeadLetterRepository.purge")),

        /** Deletes all matching dead letters from before a time, replayed or not, step by step; returns how many. */
        purgeAll: Effect.fn("DeadLetterRepository.purgeAll")(function* (
          filter: PurgeFilter,
          before: Timestamp,
          /** Receives how many each step has deleted. */
          onStep: (purged: number) => Effect.Effect<void> = () => Effect.void,
        ) {
          let purged = 0
          let after: DeadLetterPosition | null = null
          do {
            const step: Effect.Success<ReturnType<typeof purge>> = yield* purge(filter, before, after)
            purged += step.purged
            after = step.next
            yield* onStep(step.purged)
          } while (after !== null)
          return purged
        }, orDieAs("DeadLetterRepository.purgeAll")),
      }
    }),
  },
) {
  static readonly layer = Layer.effect(DeadLetterRepository, DeadLetterRepository.make)
}
