import type { Timestamp } from "@outreach/domain/Timestamp"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "./DatabaseFailure.ts"

/** The partitioned tables: `delivered` has a partition for each day in UTC, the others have one for each month. */
export const PARTITIONED_TABLES = ["delivered", "events", "inbox", "hits"] as const
export type PartitionedTable = (typeof PARTITIONED_TABLES)[number]

/** Adds and drops partitions, by the function `keep_partitions`, whose owner owns the tables. */
export class Partitions extends Context.Service<Partitions>()("postgres/Partitions", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return {
      /** Adds the partitions for today and the time to come; returns how many. If another process does it, returns 0. */
      add: Effect.fn("Partitions.add")(function* (table: PartitionedTable) {
        const rows = yield* sql<{ added: number }>`select added from keep_partitions(${table})`
        return rows[0]!.added
      }, orDieAs("Partitions.add")),

      /**
       * Drops the first partition that is over as a whole, at most one in a day; returns how many, and why it must stay, or null.
       *
       * `keep` counts days of `delivered` and `hits`, and whole months of `events` and `inbox`. The database keeps at least what its owner set.
       */
      drop: Effect.fn("Partitions.drop")(function* (table: PartitionedTable, keep: number) {
        const rows = yield* sql<{ dropped: number; reason: string | null }>`
          select dropped, reason from keep_partitions(${table}, ${keep}::int)`
        return rows[0]!
      }, orDieAs("Partitions.drop")),

      /** The time before which no events are kept; null when it is not known of any. */
      eventsKeptFrom: sql<{ at: Timestamp | null }>`select events_kept_from() as at`.pipe(
        Effect.map((rows) => rows[0]!.at),
        orDieAs("Partitions.eventsKeptFrom"),
      ),
    }
  }),
}) {
  static readonly layer = Layer.effect(Partitions, Partitions.make)
}
