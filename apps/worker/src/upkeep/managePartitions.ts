import { HitRepository } from "@outreach/domain/hits/HitRepository"
import { PARTITIONED_TABLES, type PartitionedTable, Partitions } from "@outreach/postgres/Partitions"
import { Effect } from "effect"
import { logFailure, retryForever } from "../loops/retryForever.ts"

/** For how long data is kept; null keeps it for good. */
export interface Retention {
  /** Days of deliveries that arrived, and of hits since they were judged. */
  readonly historyDays: number
}

/** Adds the partitions of the time to come, and forgets what is older than the retention says, until interrupted. */
export const managePartitions = Effect.fnUntraced(function* ({ historyDays }: Retention) {
  const partitions = yield* Partitions
  const hits = yield* HitRepository
  const kept: Readonly<Record<PartitionedTable, number | null>> = {
    delivered: historyDays,
    events: null,
    inbox: null,
    hits: historyDays,
  }

  const keep = Effect.fnUntraced(function* (table: PartitionedTable) {
    // In two transactions: whoever reads a table holds what one needs, and waits for what the other one holds.
    const added = yield* partitions.add(table)
    const months = kept[table]
    const dropped = months === null ? 0 : (yield* partitions.drop(table, months)).dropped
    if (added + dropped > 0) {
      yield* Effect.logInfo("partitions rotated").pipe(Effect.annotateLogs({ table, added, dropped }))
    }
  })
  const forgetAll = Effect.gen(function* () {
    while (true) {
      const [took, forgotten] = yield* Effect.timed(hits.forget(historyDays))
      if (forgotten === 0) return
      // As long a rest as the statement took leaves the database to others for half of the time.
      yield* Effect.sleep(took)
    }
  })
  // One after another, because they lock the same tables. One that fails is tried again with the others.
  const keepAll = Effect.forEach(
    PARTITIONED_TABLES,
    (table) => keep(table).pipe(Effect.catchCause((cause) => logFailure(`partitions of ${table} failed`, cause))),
    { discard: true },
  )
  const everyMinute = Effect.sleep("1 minute")
  // Apart, so that a long forgetting keeps no partition waiting.
  return yield* Effect.all(
    [
      retryForever("managePartitions", Effect.andThen(keepAll, everyMinute)),
      retryForever("forgetHits", Effect.andThen(forgetAll, everyMinute)),
    ],
    { concurrency: "unbounded", discard: true },
  )
})
