import * as PgClient from "@effect/sql-pg/PgClient"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { Context, Effect, Latch, Layer, Metric, Queue } from "effect"
import type { SqlError } from "effect/sql"

/**
 * What there may be to do: events to deliver, deliveries with a row of their own, inbound events to apply, or e-mails to send, of an
 * organization; or endpoints to take or to look at again.
 */
export type Topic = "events" | "due" | "inbox" | "messages" | "endpoints"

/** A topic, with the organization that it is about; null for `endpoints`, or when so many were hinted at that it stands for all. */
export interface Hint {
  readonly topic: Topic
  readonly organizationId: OrganizationId | null
}

/** How long the next hints wait, so that many share one notification. */
const GATHER_MS = 50
/** What a notification holds at most, in bytes; PostgreSQL takes 7,999. */
const MAX_PAYLOAD = 7500
const CHANNEL = "hints"

/** Hints of a transaction that are sent once it is committed. */
export const TransactionHints = Context.Reference<Set<string> | null>("postgres/TransactionHints", {
  defaultValue: () => null,
})

/**
 * Tells other processes, and this one, that there may be something to do; whoever hears nothing finds out a second later.
 *
 * A hint within `committing` is sent after the commit. All of a process's hints go over one connection of their own, at most
 * twenty notifications a second: PostgreSQL lets one transaction at a time commit a notification, over all databases.
 */
export class Hints extends Context.Service<
  Hints,
  {
    give(topic: Topic, organizationId?: OrganizationId): Effect.Effect<void>
    /** Runs something with a transaction in it, and sends what was hinted at within once it has succeeded. */
    committing<A, E, R>(transaction: Effect.Effect<A, E, R>): Effect.Effect<A, E, R>
    /** Calls `hear` for each hint until it fails or is interrupted; some may be missed. */
    listen(hear: (hint: Hint) => Effect.Effect<void>): Effect.Effect<never, SqlError.SqlError>
  }
>()("postgres/Hints") {
  static readonly layer = Layer.effect(
    Hints,
    Effect.gen(function* () {
      const pool = yield* PgClient.PgClient
      // Nobody waits for a hint to reach the disk.
      const startupParameters = { ...pool.config.startupParameters, synchronous_commit: "off" }
      const connection = PgClient.layer({ ...pool.config, maxConnections: 1, multiplex: false, startupParameters })
      const pg = Context.get(yield* Layer.build(connection), PgClient.PgClient)
      const waiting = new Set<string>()
      const stirred = yield* Latch.make()

      const send = Effect.suspend(() => {
        const payload = toPayload(waiting)
        waiting.clear()
        return pg`select pg_notify(${CHANNEL}, ${payload})`
      }).pipe(Effect.andThen(Metric.update(hintMetrics.sent, 1)), Effect.ignore)
      yield* Effect.addFinalizer(() =>
        Effect.timeoutOption(
          Effect.suspend(() => (waiting.size === 0 ? Effect.void : send)),
          "1 second",
        ),
      )
      yield* stirred.await.pipe(
        Effect.andThen(stirred.close),
        Effect.andThen(send),
        Effect.andThen(Effect.sleep(GATHER_MS)),
        Effect.forever,
        Effect.forkScoped,
      )
      const giveNow = (hints: Iterable<string>) => {
        for (const hint of hints) waiting.add(hint)
        if (waiting.size > 0) stirred.openUnsafe()
      }

      return {
        give: (topic, organizationId) =>
          Effect.map(Effect.service(TransactionHints), (inTransaction) => {
            const hint = organizationId === undefined ? topic : `${topic} ${organizationId}`
            if (inTransaction === null) giveNow([hint])
            else inTransaction.add(hint)
          }),

        committing: (transaction) =>
          Effect.suspend(() => {
            const given = new Set<string>()
            return Effect.tap(Effect.provideService(transaction, TransactionHints, given), () =>
              Effect.sync(() => giveNow(given)),
            )
          }),

        listen: (hear) =>
          Effect.gen(function* () {
            const notifications = yield* pool.listen(CHANNEL)
            return yield* Effect.forever(
              Effect.gen(function* () {
                const { payload } = yield* Queue.take(notifications)
                yield* Metric.update(hintMetrics.heard, 1)
                for (const hint of readPayload(payload)) yield* hear(hint)
              }),
            )
          }).pipe(Effect.scoped),
      }
    }),
  )
}

/** What is counted of hints. */
export const hintMetrics = {
  sent: Metric.counter("outreach_hints_sent_total", {
    description: "Notifications sent to the processes that have something to do.",
    incremental: true,
  }),
  heard: Metric.counter("outreach_hints_heard_total", { description: "Notifications heard.", incremental: true }),
}

/** Writes hints as text; those that do not fit become one for all organizations of their topic. */
const toPayload = (hints: ReadonlySet<string>): string => {
  const all = [...hints].join()
  return all.length <= MAX_PAYLOAD ? all : [...new Set([...hints].map((hint) => hint.split(" ")[0]))].join()
}

const readPayload = (payload: string): ReadonlyArray<Hint> =>
  payload.split(",").map((hint) => {
    const [topic, organizationId] = hint.split(" ")
    return { topic: topic as Topic, organizationId: (organizationId as OrganizationId | undefined) ?? null }
  })
