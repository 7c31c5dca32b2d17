import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, Exit } from "effect"
import type { ConnectionWatch } from "./ConnectionWatch.ts"
import { describeDatabaseError } from "./describeDatabaseError.ts"

const BEAT_EVERY = "2 seconds"
/** Delay before checking for a pool's first connection. */
const BEGIN_AFTER = "1 second"
/** Delay before reconnecting. */
const RETRY_AFTER = "250 millis"
const COMMIT_EVERY = "3 seconds"
/** A commit that takes longer counts as waiting. */
const COMMIT_LATE_AFTER = "4 seconds"

/**
 * Sends heartbeats while the process has connections: a fast statement on a separate connection.
 *
 * At its start, it queries the server's sessions: a connection whose session isn't listed belongs to another, lost
 * server.
 *
 * While it can't reach a server, it keeps trying. Its first response ends the outage.
 *
 * If commits may wait for a synchronous standby, it commits every three seconds on another connection. That commit waits as long as
 * necessary: if cancelled, the server would report it as done.
 */
export const sendHeartbeats = (
  watch: ConnectionWatch,
  configOf: (role: "heartbeat" | "session") => PgConnection.Config,
): Effect.Effect<never> => {
  /** Whether commits may wait, according to the last heartbeat. */
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
    // A pooler's process ids are its own.
    if (found.rows[0]!["own"] === connection.processId) {
      const known = new Set(found.rows[0]!["pids"] as ReadonlyArray<number>)
      for (const session of sessions) if (!known.has(session.processId)) session.destroySilent()
    }
    while (hasConnections()) {
      const { rows } = yield* connection.query(
        "select current_setting('synchronous_standby_names') <> '' and not pg_is_in_recovery() as waits",
        [],
        // A pooler may assign another session each time.
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
      // Writes a WAL record, but no table.
      const emit = connection.query("select pg_logical_emit_message(true, 'heartbeat', '') is null", [], false)
      yield* Effect.raceFirst(emit, Effect.andThen(noteLate, Effect.never))
      watch.noteCommits(false)
      yield* Effect.sleep(COMMIT_EVERY)
    }
  }).pipe(
    // The state of commits is unknown after this connection is lost.
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
