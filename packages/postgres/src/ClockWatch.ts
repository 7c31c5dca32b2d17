import { Clock, Effect, Schema } from "effect"
import { DatabaseService } from "./adapter.ts"
import { decodeRow } from "./rowsOf.ts"

const decodeReading = decodeRow({ readMs: Schema.Number, doubt: Schema.NullOr(Schema.String) })

/** For how long the process reckons from one reading of the database's clock. A machine that was suspended is so much behind. */
const RECKONED_MS = 86_400_000

/** Compares the database's clock with this process's own, and with what has passed since an earlier reading by a clock that cannot be set. */
export class ClockWatch extends DatabaseService<ClockWatch>()("postgres/ClockWatch", (sql) => {
  const monotonicMs = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)
  /** A reading that was believed, and how far the monotonic clock was then. */
  let base: { readonly readMs: number; readonly atMs: number } | undefined
  return {
    /** Returns why the database's clock is not believed at this moment, or null. While it is not, nothing is to be dropped or erased by age. */
    doubt: Effect.gen(function* () {
      const ownMs = yield* Clock.currentTimeMillis
      const atMs = yield* monotonicMs
      if (base !== undefined && atMs - base.atMs > RECKONED_MS) base = undefined
      const reckonedMs = base === undefined ? null : base.readMs + atMs - base.atMs
      const { readMs, doubt } = yield* sql`
          select extract(epoch from now_at)::double precision * 1000 as "readMs", doubt
          from watch_clock(to_timestamp(${ownMs}::double precision / 1000), to_timestamp(${reckonedMs}::double precision / 1000))`.pipe(
        decodeReading,
      )
      if (doubt === null) base ??= { readMs, atMs: yield* monotonicMs }
      return doubt
    }),
  }
}) {}
