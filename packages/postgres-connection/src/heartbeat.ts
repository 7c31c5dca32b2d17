import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, Exit } from "effect"
import type { ConnectionWatch } from "./ConnectionWatch.ts"
import { describeDatabaseError } from "./describeDatabaseError.ts"

const BEAT_EVERY = "2 seconds"
/** How long it waits for the first connection of a pool. */
const BEGIN_AFTER = "1 second"
/** How long it waits before it connects again. */
const RETRY_AFTER = "250 millis"
const COMMIT_EVERY = "3 seconds"
/** How long a commit may take before it counts as one that waits. */
const COMMIT_LATE_AFTER = "4 seconds"

/**
 * Sends heartbeats while the process has connections: a statement that is always quick, on a connection of its own.
 *
 * At its beginning it asks the server for its sessions: a connection whose session is not among them leads to another server,
 * which is gone.
 *
 * While it reaches no server it goes on trying, one attempt after the other. Its first response ends the outage.
 *
 * Where commits may wait for a synchronous standby, it commits something every three seconds, on another one. That commit is left
 * to wait as long as it takes: cancelled, the server would report it as done.
 */
export const sendHeartbeats = (
  watch: ConnectionWatch,
  configOf: (role: "heartbeat" | "session") => PgConnection.Config,
): Effect.Effect<never> => {
  /** Whether commits may wait, as the last heartbeat found it. */
  let mayWait = false
  const hasConnections = () => [...watch.sockets].some(({ role }) => role !== "heartbeat")

  const beat = Effect.gen(function* () {
    if (!hasConnections() && watch.outage === undefined) return
    const connection = yield* PgConnection.make(configOf("heartbeat")).pipe(
      Effect.tapError((error) => Effect.sync(() => watch.connectFailed(describeDatabaseError(error)))),
    )
    const sessions = watch.sessionsOfServer()
    const found = yield* connection.query(
      "select pg_backend_pid() as own, array(select pid from pg_stat_activity) as pids",
      [],
      false,
    )
    watch.noteReached()
    // Through a pooler, the numbers are its own.
    if (found.rows[0]!["own"] === connection.processId) {
      const known = new Set(found.rows[0]!["pids"] as ReadonlyArray<number>)
      for (const session of sessions) if (!known.has(session.processId)) session.destroySilent()
    }
    while (hasConnections()) {
      const { rows } = yield* connection.query(
        "select current_setting('synchronous_standby_names') <> '' and not pg_is_in_recovery() as waits",
        [],
        // A pooler may lend another session each time.
        false,
      )
      mayWait = rows[0]!["waits"] === true
      if (!mayWait) watch.noteCommits(false)
      yield* Effect.sleep(BEAT_EVERY)
    }
  })

  const commit = Effect.gen(function* () {
    if (!mayWait) return
    const connection = yield* PgConnection.make(configOf("session"))
    const noteLate = Effect.andThen(
      Effect.sleep(COMMIT_LATE_AFTER),
      Effect.sync(() => watch.noteCommits(true)),
    )
    while (mayWait) {
      // It writes a record to the log and nothing to a table.
      const emit = connection.query("select pg_logical_emit_message(true, 'heartbeat', '') is null", [], false)
      yield* Effect.raceFirst(emit, Effect.andThen(noteLate, Effect.never))
      watch.noteCommits(false)
      yield* Effect.sleep(COMMIT_EVERY)
    }
  }).pipe(
    // Nothing is known of commits once its connection is lost.
    Effect.ensuring(Effect.sync(() => watch.noteCommits(false))),
  )

  const forever = (effect: typeof beat | typeof commit) =>
    Effect.exit(Effect.scoped(effect)).pipe(
      Effect.flatMap((exit) => Effect.sleep(Exit.isSuccess(exit) ? BEGIN_AFTER : RETRY_AFTER)),
      Effect.forever,
      Effect.delay(BEGIN_AFTER),
    )
  return watch.heartbeat.withPermit(
    Effect.all([forever(beat), forever(commit)], {
      concurrency: "unbounded",
    }),
  ) as Effect.Effect<never>
}
