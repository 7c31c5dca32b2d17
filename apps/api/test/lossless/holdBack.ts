import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { inTransaction } from "@outreach/testing/inTransaction"
import { Effect, Predicate, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import type { Poller } from "./Poller.ts"
import { stampLate } from "./writers.ts"

/**
 * Writes with an early stamp, and commits as late as matters: when the pollers have passed the stamp, or when another writer
 * waits for this one, so that no poller can. Answers which of the two it was, and what it wrote.
 *
 * Nobody else may write to the campaign's recipients, because a later stamp would show them again.
 */
export const holdBack = Effect.fnUntraced(function* (campaign: Campaign, pollers: ReadonlyArray<Poller>) {
  const sql = yield* SqlClient.SqlClient
  return yield* inTransaction(
    Effect.gen(function* () {
      const { recipients, events } = yield* stampLate(campaign, 1, Effect.void)
      const written = { recipients: recipients[0]!, events: events[0]! }
      const passers = pollers.filter(({ habit }) => habit !== "starting afresh")
      const outcome = yield* Effect.gen(function* () {
        if (passers.every(({ list, passed }) => passed > written[list])) return "the pollers passed" as const
        // Not pg_stat_activity: within a transaction it stays as it was first read, without whoever connected later.
        const waiting = yield* sql`
          select from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))`
        return waiting.length > 0 ? ("the writers waited" as const) : undefined
      }).pipe(Effect.repeat({ until: Predicate.isNotUndefined, schedule: Schedule.spaced("20 millis") }))
      return { outcome, written }
    }),
  )
})
