import * as PgClient from "@effect/sql-pg/PgClient"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { DatabaseRoute } from "@outreach/postgres-connection/DatabaseRoute"
import { databasePool } from "@outreach/postgres-connection/databaseLayer"
import { Cause, Context, type Duration, Effect, Latch, Layer, Metric, Queue, Schedule } from "effect"
import { DatabaseMonitor } from "../DatabaseMonitor.ts"
import { describeFault } from "../describeFault.ts"

/**
 * Work that an organization may have: events to deliver, deliveries with a queued row, inbound events to apply, or e-mails to send;
 * or endpoints to claim or to check, campaigns to publish, open, pause or complete, hits to classify, replay jobs, or suppressions and
 * unsubscriptions to apply.
 */
export const TOPICS = [
  "events",
  "due",
  "inbox",
  "messages",
  "endpoints",
  "campaigns",
  "hits",
  "replays",
  "suppressions",
] as const
export type Topic = (typeof TOPICS)[number]

/** A topic and its organization; null if it is unknown, or if there are too many organizations to name. */
export interface Hint {
  readonly topic: Topic
  readonly organizationId: OrganizationId | null
}

/** The delay before hints are sent, so that thousands a second share few notifications. Default: 2 ms. */
export const HintInterval = Context.Reference<Duration.Input>("postgres/events/HintInterval", {
  defaultValue: () => "2 millis",
})
/** The maximum size of a notification in bytes; PostgreSQL allows 7,999. */
const MAX_PAYLOAD = 7500
const CHANNEL = "hints"
/** The delay before listening or sending again after a lost connection. */
const RETRY_MS = 500
/** Intervals of checks for work without a hint. While listening, only a process that died between its commit and its hint leaves such work. */
const CHECK_EVERY_MS = { listening: 30_000, notListening: 1000 }

export const hintMetrics = {
  sent: Metric.counter("outreach_hints_sent_total", { description: "Hint notifications sent.", incremental: true }),
  received: Metric.counter("outreach_hints_heard_total", {
    description: "Hint notifications received.",
    incremental: true,
  }),
}

/**
 * Notifies all processes, including this one, of possible work, by PostgreSQL notifications. Work whose hint was lost is found after `checkEveryMs`.
 *
 * A hint within a transaction is sent after its commit. A process sends all hints one after another over a dedicated connection,
 * because PostgreSQL serializes commits with notifications over all databases.
 */
export class Hints extends Context.Service<Hints>()("postgres/Hints", {
  make: Effect.gen(function* () {
    const pool = yield* PgClient.PgClient
    const monitor = yield* DatabaseMonitor
    const { direct } = yield* DatabaseRoute
    const interval = yield* HintInterval
    const pg = Context.get(yield* Layer.build(databasePool({ maxConnections: 1 })), PgClient.PgClient)
    const waiting = new Set<string>()
    const wakeUp = yield* Latch.make()

    /** Sends the hints, and returns the pause before the next ones. */
    const send = Effect.suspend(() => {
      const sent = new Set(waiting)
      waiting.clear()
      // A hint doesn't need a flush to disk.
      return pg`select set_config('synchronous_commit', 'off', true), pg_notify(${CHANNEL}, ${toPayload(sent)})`.pipe(
        Effect.andThen(Metric.update(hintMetrics.sent, 1)),
        Effect.as(interval),
        Effect.catch(() => {
          for (const hint of sent) waiting.add(hint)
          wakeUp.openUnsafe()
          return Effect.succeed(RETRY_MS)
        }),
      )
    })
    yield* Effect.addFinalizer(() =>
      Effect.timeoutOption(
        Effect.suspend(() => (waiting.size === 0 ? Effect.void : send)),
        "1 second",
      ),
    )
    yield* wakeUp.await.pipe(
      Effect.andThen(wakeUp.close),
      Effect.andThen(send),
      Effect.flatMap(Effect.sleep),
      Effect.forever,
      Effect.forkScoped,
    )
    const listeners = new Set<(hint: Hint) => Effect.Effect<void>>()
    const notify = (hint: Hint) => Effect.forEach(listeners, (onHint) => onHint(hint), { discard: true })
    let isListening = false
    const listening = Effect.gen(function* () {
      const connection = yield* Effect.flatMap(PgConnection.make(yield* direct), ({ pin }) => pin)
      const { rows } = yield* connection.query("select pg_backend_pid() as pid")
      const isDirect = rows[0]?.["pid"] === connection.processId
      if (!isDirect) {
        yield* Effect.logWarning("notification listener is behind a pooler; notifications may be lost")
      }
      const notifications = yield* connection.listen(CHANNEL)
      isListening = isDirect
      // Hints from before the subscription were missed.
      for (const topic of TOPICS) yield* notify({ topic, organizationId: null })
      while (true) {
        // Fails if the process's heartbeat closes the connection of a silent server.
        const { payload } = yield* Queue.take(notifications)
        yield* Metric.update(hintMetrics.received, 1)
        for (const hint of readPayload(payload)) yield* notify(hint)
      }
    }).pipe(
      Effect.scoped,
      Effect.ensuring(
        Effect.sync(() => {
          isListening = false
        }),
      ),
      Effect.tapError((error) =>
        Effect.flatMap(monitor.covers(Cause.fail(error)), (covered) =>
          covered
            ? Effect.void
            : Effect.logWarning("listening for notifications failed; polling every second").pipe(
                Effect.annotateLogs({ ...describeFault(error) }),
              ),
        ),
      ),
      Effect.retry(Schedule.spaced(RETRY_MS)),
    )
    const scope = yield* Effect.scope
    const start = yield* Effect.cached(Effect.forkIn(listening, scope))

    return {
      give: (topic: Topic, organizationId?: OrganizationId): Effect.Effect<void> =>
        pool.afterCommit(
          Effect.sync(() => {
            waiting.add(organizationId === undefined ? topic : `${topic} ${organizationId}`)
            wakeUp.openUnsafe()
          }),
        ),

      isListening: () => isListening,

      /** Returns the interval in milliseconds at which loops check for work without a hint. */
      checkEveryMs: (): number => (isListening ? CHECK_EVERY_MS.listening : CHECK_EVERY_MS.notListening),

      /** Calls `onHint` for each hint until interrupted, and once for all topics at the start. Hints may be missed. */
      listen: (onHint: (hint: Hint) => Effect.Effect<void>): Effect.Effect<never> =>
        Effect.acquireUseRelease(
          Effect.sync(() => listeners.add(onHint)),
          () =>
            start.pipe(
              Effect.andThen(
                Effect.forEach(TOPICS, (topic) => onHint({ topic, organizationId: null }), { discard: true }),
              ),
              Effect.andThen(Effect.never),
            ),
          () => Effect.sync(() => listeners.delete(onHint)),
        ),
    }
  }),
}) {
  static readonly layer = Layer.effect(Hints, Hints.make)
}

/** Encodes hints as text. If they don't fit, each topic becomes one hint for all organizations. */
const toPayload = (hints: ReadonlySet<string>): string => {
  const all = [...hints].join()
  return all.length <= MAX_PAYLOAD ? all : [...new Set([...hints].map((hint) => hint.split(" ")[0]))].join()
}

const readPayload = (payload: string): ReadonlyArray<Hint> =>
  payload.split(",").map((hint) => {
    const [topic, organizationId] = hint.split(" ")
    return { topic: topic as Topic, organizationId: (organizationId as OrganizationId | undefined) ?? null }
  })
