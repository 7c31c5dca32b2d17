import { Timestamp } from "@outreach/domain/Timestamp"
import { Schema } from "effect"
import { reader } from "./adapter.ts"
import { decodeCount, decodeRow, decodeValue } from "./rowsOf.ts"

/** The partitioned tables: `delivered` has a partition for each day in UTC, the other tables have one for each month. */
export const PARTITIONED_TABLES = ["delivered", "events", "inbox", "hits"] as const
export type PartitionedTable = (typeof PARTITIONED_TABLES)[number]

const decodeDropped = decodeRow({ dropped: Schema.Int, reason: Schema.NullOr(Schema.String) })
const decodeKept = decodeValue({ at: Schema.NullOr(Timestamp) })

/** Adds and drops partitions through the function `keep_partitions`, which runs with the rights of the tables' owner. */
export const Partitions = reader("Partitions", (sql) => ({
  /** Adds the partitions for today and the near future; returns their number. Returns 0 while another process does this. */
  add: (table: PartitionedTable) => sql`select added as count from keep_partitions(${table})`.pipe(decodeCount),

  /**
   * Drops the oldest partition that has ended, at most one a day; returns the number, and the reason why it has to stay, or null.
   *
   * `keep` is in days for `delivered` and `hits`, and in whole months for `events` and `inbox`. The owner's minimum in the database takes precedence.
   */
  drop: (table: PartitionedTable, keep: number) =>
    sql`select dropped, reason from keep_partitions(${table}, ${keep}::int)`.pipe(decodeDropped),

  /** The time before which no events are stored, if it is the end of a partition; null if the first partition has events. */
  eventsKeptFrom: sql`
    select (
      select ends_at from partition_ranges('events')
      where name = 'events_earlier' and not exists (select from events where emitted_at < ends_at)
    ) as at`.pipe(decodeKept),
}))
