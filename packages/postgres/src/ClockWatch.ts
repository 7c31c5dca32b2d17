import { readMonotonicMs } from "@outreach/domain/monotonicMs"
import { Clock, Effect, Schema } from "effect"
import { DatabaseService } from "./adapter.ts"
import { only, rowsOf } from "./rowsOf.ts"

const readings = rowsOf(Schema.Struct({ readMs: Schema.Number, doubt: Schema.NullOr(Schema.String) }), {
  readMs: "extract(epoch from now_at)::double precision * 1000",
})

/** How long the process extrapolates from one reading of the database's clock. A monotonic clock may stop while the machine is suspended. */
const MAX_EXTRAPOLATION_MS = 86_400_000

/** Compares the database's clock with this process's clock, and with the monotonic time since an earlier trusted reading. */
export class ClockWatch extends DatabaseService<ClockWatch>()("postgres/ClockWatch", (sql) => {
  /** A trusted reading, and the monotonic time at which it was read. */
  let base: { readonly readMs: number; readonly atMs: number } | undefined
  return {
    /** Returns why the database's clock isn't trusted now, or null. Don't drop or erase anything by age while it isn't trusted. */
    doubt: Effect.gen(function* () {
      const ownMs = yield* Clock.currentTimeMillis
      const atMs = yield* readMonotonicMs
      if (base !== undefined && atMs - base.atMs > MAX_EXTRAPOLATION_MS) base = undefined
      const extrapolatedMs = base === undefined ? null : base.readMs + atMs - base.atMs
      const { readMs, doubt } = yield* sql`
          select ${readings.columns}
          from watch_clock(to_timestamp(${ownMs}::double precision / 1000), to_timestamp(${extrapolatedMs}::double precision / 1000))`.pipe(
        readings.decode,
        only,
      )
      if (doubt === null) base ??= { readMs, atMs: yield* readMonotonicMs }
      return doubt
    }),
  }
}) {}
