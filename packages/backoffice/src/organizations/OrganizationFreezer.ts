import type { OrganizationId } from "@outreach/domain/Identifier"
import { OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import { Hints } from "@outreach/postgres/events/Hints"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"

/** A replay is under way that concerns the organization. */
export class ReplayUnderWay extends Schema.TaggedError<ReplayUnderWay>()("ReplayUnderWay", {
  replayId: Schema.String,
}) {
  override get message(): string {
    return `The replay ${this.replayId} may concern the organization, and does not move with it. Wait until it has finished, or cancel it.`
  }
}

/** What was begun for an organization before it was frozen, and is not finished. */
export interface InFlight {
  /** Transactions of this database that may have begun before the freeze; a process and its application for each. */
  readonly transactions: ReadonlyArray<string>
  /** Messages whose sending has begun, as far as their leases tell. */
  readonly messages: number
  /** Endpoints that a living worker still owns, and calls to them that it has not settled. */
  readonly endpoints: number
  readonly calls: number
}

/** Freezes organizations, so that nothing new begins for them on this server while they move to another. */
export class OrganizationFreezer extends Context.Service<OrganizationFreezer>()(
  "backoffice/organizations/OrganizationFreezer",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const hints = yield* Hints

      const setFrozen = Effect.fnUntraced(function* (organizationId: OrganizationId, isFrozen: boolean) {
        const rows = yield* sql<{ frozenAt: Timestamp | null }>`
          update organizations set frozen_at = case when ${isFrozen}::boolean then coalesce(frozen_at, clock_timestamp()) end
          where id = ${organizationId} returning frozen_at as "frozenAt"`
        if (rows[0] === undefined) return yield* new OrganizationNotFound({ organizationId })
        yield* hints.give("endpoints")
        return rows[0]
      })

      return {
        /**
         * Freezes an organization; again is as once. Returns since when it is frozen, and the transactions that may not have seen it: whoever has
         * not looked yet holds a virtual transaction id, as `create index concurrently` knows.
         */
        freeze: Effect.fn("OrganizationFreezer.freeze")(function* (organizationId: OrganizationId) {
          const replays = yield* sql<{ id: string }>`
            select id from replay_jobs where finished_at is null and cancelled_at is null and (
              endpoint_id is null or endpoint_id in (select id from webhook_endpoints where organization_id = ${organizationId})
            ) order by id limit 1`
          if (replays[0] !== undefined) return yield* new ReplayUnderWay({ replayId: replays[0].id })
          const { frozenAt } = yield* setFrozen(organizationId, true)
          const older = yield* sql<{ id: string }>`
            select virtualxid as id from pg_locks join pg_stat_activity using (pid)
            where locktype = 'virtualxid' and granted and pid <> pg_backend_pid() and usesysid is not null
              and datid = (select oid from pg_database where datname = current_database())`
          return { frozenAt: frozenAt!, older: older.map(({ id }) => id) }
        }, orDieAs("OrganizationFreezer.freeze")),

        /** Reads what is still in flight for a frozen organization; `older` are the transactions that `freeze` returned. */
        inFlight: Effect.fn("OrganizationFreezer.inFlight")(function* (
          organizationId: OrganizationId,
          older: ReadonlyArray<string>,
        ) {
          const transactions = yield* sql<{ process: string }>`
            select pid || ' (' || application_name || ')' as process from pg_locks join pg_stat_activity using (pid)
            where locktype = 'virtualxid' and virtualxid = any (${older}::text[]) order by pid`
          // By a later statement, which sees what these transactions wrote.
          const rows = yield* sql<Omit<InFlight, "transactions">>`
            with alive as materialized (select token from delivery_workers where alive_until > clock_timestamp())
            select
              (select count(*)::int from messages where organization_id = ${organizationId} and lease_until > clock_timestamp()) as messages,
              (select count(*)::int from endpoint_readers where organization_id = ${organizationId} and owner in (table alive)) as endpoints,
              (select count(*)::int from deliveries where organization_id = ${organizationId} and owner in (table alive)) as calls`
          return { transactions: transactions.map(({ process }) => process), ...rows[0]! } satisfies InFlight
        }, orDieAs("OrganizationFreezer.inFlight")),

        /** Returns where the WAL ends: all that was committed before stands below. */
        walPosition: sql<{ position: string }>`select pg_current_wal_lsn()::text as position`.pipe(
          Effect.map((rows) => rows[0]!.position),
          orDieAs("OrganizationFreezer.walPosition"),
        ),

        /** Lets everything begin again for an organization. */
        unfreeze: Effect.fn("OrganizationFreezer.unfreeze")(function* (organizationId: OrganizationId) {
          yield* setFrozen(organizationId, false)
          for (const topic of ["events", "due", "inbox", "messages"] as const) yield* hints.give(topic, organizationId)
        }, orDieAs("OrganizationFreezer.unfreeze")),
      }
    }),
  },
) {
  static readonly layer = Layer.effect(OrganizationFreezer, OrganizationFreezer.make)
}
