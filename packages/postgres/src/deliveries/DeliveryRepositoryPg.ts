import { DeliveryRepository, FailureGroupNotFound } from "@outreach/domain/deliveries/DeadLetters"
import { DeliveryId, FailureGroupId, OrganizationId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import { adapter } from "../adapter.ts"
import { Hints } from "../events/Hints.ts"
import { decodeColumn, decodeValue, firstOr, only, rowsOf } from "../rowsOf.ts"
import { countInGroups, isPurged } from "./deadLetterConditions.ts"

const PURGE_BATCH_SIZE = 2000

const decodeOrganizations = decodeColumn({ organization_id: OrganizationId })
const decodeGroups = decodeColumn({ id: FailureGroupId })
const decodeTime = decodeValue({ at: Schema.NullOr(Timestamp) })
const steps = rowsOf(
  Schema.Struct({ purged: Schema.Int, finishedAt: Schema.NullOr(Timestamp), id: Schema.NullOr(DeliveryId) }),
  { purged: "(select count(*)::int from purged)" },
)

export const DeliveryRepositoryPg = adapter(DeliveryRepository, function* (sql) {
  const hints = yield* Hints
  /** Announces the deliveries of a statement that are due now; returns whether there are any. */
  const announce = Effect.fnUntraced(function* <E>(rows: Effect.Effect<ReadonlyArray<object>, E>) {
    const organizations = yield* decodeOrganizations(rows)
    for (const organizationId of organizations) yield* hints.give("due", organizationId)
    return organizations.length > 0
  })
  const setMutedReason = (groupId: FailureGroupId, reason: string | null) =>
    sql`
        update failure_groups set muted_reason = ${reason}::text, muted_at = case when ${reason}::text is not null then clock_timestamp() end
        where id = ${groupId} returning id`.pipe(
      decodeGroups,
      firstOr(FailureGroupNotFound, { groupId }),
      Effect.asVoid,
    )

  return {
    retryNow: (deliveryId) =>
      sql`
          update deliveries set due_at = least(due_at, clock_timestamp()) where id = ${deliveryId} and owner is null
          returning organization_id`.pipe(announce),

    replay: (deliveryId) =>
      sql`
          with dead as (
            update dead_letters set replayed_as = make_id('dlv')
            where id = ${deliveryId} and replayed_as is null
              and endpoint_id not in (select id from webhook_endpoints where removed_at is not null)
            returning *
          ), queued as (
            insert into deliveries (organization_id, id, endpoint_id, event_id, due_at, replay)
            select organization_id, replayed_as, endpoint_id, event_id, clock_timestamp(), true from dead
            returning organization_id
          ), ${countInGroups("dead", { opened: "-1", stored: "0" })}
          select organization_id from queued cross join grouped`.pipe(announce),

    daysAgo: (days) => sql`select plausible_now() - make_interval(days => ${days}::int) as at`.pipe(decodeTime),

    purge: Effect.fnUntraced(function* (filter, before, after) {
      const start = after ?? { finishedAt: "-infinity", id: "" }
      const range = (isReplayed: Statement.Fragment) => sql`(
          select organization_id, id, finished_at from dead_letters
          where replayed_as ${isReplayed} and (finished_at, id) > (${start.finishedAt}::timestamptz, ${start.id})
            and finished_at < ${before}::timestamptz
          order by finished_at, id limit ${PURGE_BATCH_SIZE}::int)`
      const { purged, finishedAt, id } = yield* sql`
          with looked as materialized (
            select * from (${range(sql`is null`)} union all ${range(sql`is not null`)}) either
            order by finished_at, id limit ${PURGE_BATCH_SIZE}::int
          ), held as (
            -- Skips dead letters that are being replayed now.
            select dead.organization_id, dead.id from looked join dead_letters dead using (organization_id, id)
            where ${isPurged(sql, filter)}
            for update of dead skip locked
          ), purged as (
            delete from dead_letters dead using held where dead.organization_id = held.organization_id and dead.id = held.id
            returning dead.*
          ), ${countInGroups("purged", { opened: "-(replayed_as is null)::int", stored: "-1" })},
          last as materialized (select finished_at, id from looked order by finished_at desc, id desc limit 1)
          select ${steps.columns} from grouped left join last on true`.pipe(steps.decode, only)
      return { purged, next: finishedAt === null || id === null ? null : { finishedAt, id } }
    }),

    mute: setMutedReason,

    unmute: (groupId) => setMutedReason(groupId, null),
  }
})
