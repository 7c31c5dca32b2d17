import { Timestamp } from "@outreach/domain/Timestamp"
import { Schema } from "effect"
import { DatabaseService } from "./adapter.ts"
import { decodeRow, decodeValue } from "./rowsOf.ts"

/** The partitioned tables: `delivered` has a partition for each day in UTC, the others have one for each month. */
export const PARTITIONED_TABLES = ["delivered", "events", "inbox", "hits"] as const
export type PartitionedTable = (typeof PARTITIONED_TABLES)[number]

const decodeAdded = decodeValue({ added: Schema.Int })
const decodeDropped = decodeRow({ dropped: Schema.Int, reason: Schema.NullOr(Schema.String) })
const decodeKept = decodeValue({ at: Schema.NullOr(Timestamp) })

/** Adds and drops partitions, by the function `keep_partitions`, whose owner owns the tables. */
export class Partitions extends DatabaseService<Partitions>()("postgres/Partitions", (sql) => ({
  /** Adds the partitions for today and the time to come; returns how many. If another process does it, returns 0. */
  add: (table: PartitionedTable) => sql`select added from keep_partitions(${table})`.pipe(decodeAdded),

  /**
   * Drops the first partition that is over as a whole, at most one in a day; returns how many, and why it must stay, or null.
   *
   * `keep` counts days of `delivered` and `hits`, and whole months of `events` and `inbox`. The database keeps at least what its owner set.
   */
  drop: (table: PartitionedTable, keep: number) =>
    sql`select dropped, reason from keep_partitions(${table}, ${keep}::int)`.pipe(decodeDropped),

  /** The time before which no events are kept; null if it is unknown. */
  eventsKeptFrom: sql`select events_kept_from() as at`.pipe(decodeKept),
})) {}
