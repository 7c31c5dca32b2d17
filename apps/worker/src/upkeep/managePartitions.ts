import { DeliveryRepository, purgeDeadLetters } from "@outreach/domain/deliveries/DeadLetters"
import { Hints } from "@outreach/postgres/events/Hints"
import { OldRows } from "@outreach/postgres/OldRows"
import { PARTITIONED_TABLES, type PartitionedTable, Partitions } from "@outreach/postgres/Partitions"
import { Clock, type Config, Effect } from "effect"
import { logFailure, repeatEvery, repeatUntilEmpty, withPauses } from "../loops/retryForever.ts"
import type { WorkerConfig } from "../WorkerConfig.ts"
import { whileClockTrusted } from "./watchClock.ts"

/** Retention of data; null keeps it permanently. */
export type Retention = Omit<Config.Success<typeof WorkerConfig>["retention"], "recipientsMonths">

const DAY_MS = 86_400_000

/** Adds future partitions, and drops data older than its retention, until interrupted. */
export const managePartitions = Effect.fnUntraced(function* (retention: Retention) {
  const { historyDays, deadLettersDays } = retention
  const partitions = yield* Partitions
  const oldRows = yield* OldRows
  const hints = yield* Hints
  const kept: Readonly<Record<PartitionedTable, number | null>> = {
    delivered: historyDays,
    events: retention.eventsMonths,
    inbox: retention.inboxMonths,
    hits: historyDays,
  }

  // Last time a warning was logged for a table that needs its oldest month beyond its retention.
  const loggedAt = new Map<PartitionedTable, number>()
  const drop = Effect.fnUntraced(function* (table: PartitionedTable, keep: number) {
    const { dropped, reason } = yield* partitions.drop(table, keep)
    const now = yield* Clock.currentTimeMillis
    if (reason === null) loggedAt.delete(table)
    else if (now - (loggedAt.get(table) ?? 0) >= DAY_MS) {
      loggedAt.set(table, now)
      yield* Effect.annotateLogs(Effect.logWarning("partition past its retention is still needed"), { table, reason })
    }
    return dropped
  })
  const keepTable = Effect.fnUntraced(function* (table: PartitionedTable) {
    // Two transactions: a reader of the table holds the lock that one needs, and waits for the second one.
    const added = yield* partitions.add(table)
    // A reading that waited for them missed their events, because its snapshot is older.
    if (table === "events" && added > 0) yield* hints.give("events")
    const dropped = kept[table] === null ? 0 : yield* drop(table, kept[table])
    if (added + dropped > 0) {
      yield* Effect.logInfo("partitions rotated").pipe(Effect.annotateLogs({ table, added, dropped }))
    }
  })
  // One at a time, because they lock the same tables. A failed one is retried in the next round.
  const keepAll = Effect.forEach(
    PARTITIONED_TABLES,
    (table) =>
      keepTable(table).pipe(
        Effect.catchCause((cause) => Effect.annotateLogs(logFailure("partition maintenance failed", cause), { table })),
      ),
    { discard: true },
  )

  const purgeOld = Effect.fnUntraced(function* (days: number) {
    const before = yield* (yield* DeliveryRepository).daysAgo(days)
    if (before === null) return
    yield* purgeDeadLetters({ keepsDoubtful: true }, before, withPauses)
  })

  const everyMinute = <E, R>(name: string, work: Effect.Effect<unknown, E, R>) =>
    repeatEvery(name, "1 minute", whileClockTrusted(work))
  // Separate, so that a long deletion doesn't delay new partitions.
  return yield* Effect.all(
    [
      everyMinute("managePartitions", keepAll),
      everyMinute("forgetHits", repeatUntilEmpty(oldRows.deleteHits(historyDays))),
      everyMinute("forgetAttempts", repeatUntilEmpty(oldRows.deleteAttempts(historyDays))),
      ...(deadLettersDays === null ? [] : [everyMinute("purgeDeadLetters", purgeOld(deadLettersDays))]),
    ],
    { concurrency: "unbounded", discard: true },
  )
})
