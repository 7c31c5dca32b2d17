import { DeadLetterRepository } from "@outreach/domain/deliveries/DeadLetterRepository"
import { purgeDeadLetters } from "@outreach/domain/deliveries/DeadLetters"
import { HitRepository } from "@outreach/domain/hits/HitRepository"
import { MessageQueue } from "@outreach/domain/mail/MessageQueue"
import { Hints } from "@outreach/postgres/events/Hints"
import { PARTITIONED_TABLES, type PartitionedTable, Partitions } from "@outreach/postgres/Partitions"
import { Clock, type Config, Effect } from "effect"
import { logFailure, retryForever } from "../loops/retryForever.ts"
import { untilNone, withRest } from "../loops/withRest.ts"
import type { WorkerConfig } from "../WorkerConfig.ts"
import { whileBelieved } from "./watchClock.ts"

/** For how long data is kept; null keeps it for good. */
export type Retention = Omit<Config.Success<typeof WorkerConfig>["retention"], "recipientsMonths">

const DAY_MS = 86_400_000

/** Adds the partitions of the time to come, and forgets what is older than the retention says, until interrupted. */
export const managePartitions = Effect.fnUntraced(function* (retention: Retention) {
  const { historyDays, deadLettersDays } = retention
  const partitions = yield* Partitions
  const hits = yield* HitRepository
  const messages = yield* MessageQueue
  const hints = yield* Hints
  const kept: Readonly<Record<PartitionedTable, number | null>> = {
    delivered: historyDays,
    events: retention.eventsMonths,
    inbox: retention.inboxMonths,
    hits: historyDays,
  }

  // When it was last logged that a table's oldest month is needed for longer than it is to be kept.
  const loggedAt = new Map<PartitionedTable, number>()
  const drop = Effect.fnUntraced(function* (table: PartitionedTable, keep: number) {
    const { dropped, reason } = yield* partitions.drop(table, keep)
    const now = yield* Clock.currentTimeMillis
    if (reason === null) loggedAt.delete(table)
    else if (now - (loggedAt.get(table) ?? 0) >= DAY_MS) {
      loggedAt.set(table, now)
      yield* Effect.logWarning("partition past its retention is still needed").pipe(
        Effect.annotateLogs({ table, reason }),
      )
    }
    return dropped
  })
  const keepTable = Effect.fnUntraced(function* (table: PartitionedTable) {
    // In two transactions: a reader of the table holds what one needs, and waits for what the other one holds.
    const added = yield* partitions.add(table)
    // A reading that waited for them saw none of the events that they hold: its snapshot is older.
    if (table === "events" && added > 0) yield* hints.give("events")
    const dropped = kept[table] === null ? 0 : yield* drop(table, kept[table])
    if (added + dropped > 0) {
      yield* Effect.logInfo("partitions rotated").pipe(Effect.annotateLogs({ table, added, dropped }))
    }
  })
  // One after another, because they lock the same tables. One that fails is tried again with the others.
  const keepAll = Effect.forEach(
    PARTITIONED_TABLES,
    (table) => keepTable(table).pipe(Effect.catchCause((cause) => logFailure(`partitions of ${table} failed`, cause))),
    { discard: true },
  )

  const purgeOld = Effect.fnUntraced(function* (days: number) {
    const before = yield* (yield* DeadLetterRepository).daysAgo(days)
    if (before === null) return
    yield* purgeDeadLetters({ keepsDoubtful: true }, before, withRest)
  })

  const everyMinute = <E, R>(name: string, work: Effect.Effect<unknown, E, R>) =>
    retryForever(name, Effect.andThen(whileBelieved(work), Effect.sleep("1 minute")))
  // Apart, so that a long forgetting keeps no partition waiting.
  return yield* Effect.all(
    [
      everyMinute("managePartitions", keepAll),
      everyMinute("forgetHits", untilNone(hits.forget(historyDays))),
      everyMinute("forgetAttempts", untilNone(messages.forgetAttempts(historyDays))),
      ...(deadLettersDays === null ? [] : [everyMinute("purgeDeadLetters", purgeOld(deadLettersDays))]),
    ],
    { concurrency: "unbounded", discard: true },
  )
})
