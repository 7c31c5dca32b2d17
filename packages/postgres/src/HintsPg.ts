import * as PgClient from "@effect/sql-pg/PgClient"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { Context, Effect, Latch, Layer, Metric, Queue } from "effect"
import { type Hint, Hints, hintMetrics, type Topic, TransactionHints } from "./Hints.ts"

/** How long the next hints wait, so that many share one notification. */
const GATHER_MS = 50
/** What a notification holds at most, in bytes; PostgreSQL takes 7,999. */
const MAX_PAYLOAD = 7500
const CHANNEL = "hints"

/** Sends and hears hints as PostgreSQL's notifications. */
export const HintsPg = Layer.effect(
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
