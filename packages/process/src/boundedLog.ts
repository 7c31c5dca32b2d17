import { Console, Effect } from "effect"
import { counter } from "./metrics.ts"

/** Maximum bytes in memory while the log's reader is slow or stopped. */
const MAX_WAITING_BYTES = 131_072

const lostLines = counter(
  "outreach_log_lines_lost_total",
  "Log lines lost because standard output was blocked or its disk full.",
)

/**
 * Runs a service, dropping log lines that standard output doesn't accept, and counting them.
 *
 * Node would keep each line in memory until it is read.
 */
export const boundedLog = <A, E, R>(service: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const context = yield* Effect.context<never>()
    const console = yield* Console.Console
    const lose = (lines: number) => lostLines.updateUnsafe(lines, context)
    // Exported from the start, so that the first lost line shows in a rate.
    lose(0)
    process.stdout.on("error", () => lose(1))
    const log = (...line: ReadonlyArray<unknown>) =>
      process.stdout.writableLength > MAX_WAITING_BYTES ? lose(1) : console.log(...line)
    return yield* Effect.provideService(service, Console.Console, { ...console, log })
  })
