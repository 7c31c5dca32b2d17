import { Console, Effect, Metric } from "effect"

/** The most that waits in memory for a program that reads the log too slowly, or no more. */
const MAX_WAITING_BYTES = 131_072

const lostLines = Metric.counter("outreach_log_lines_lost_total", {
  description: "Log lines that standard output did not take: its disk is full, or nobody reads them.",
  incremental: true,
})

/**
 * Runs a service whose log is lost where standard output does not take it, and counts the lines that are.
 *
 * Node ends no process for it, and would keep each line in memory until somebody reads it.
 */
export const boundedLog = <A, E, R>(service: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const context = yield* Effect.context<never>()
    const console = yield* Console.Console
    const lose = (lines: number) => lostLines.updateUnsafe(lines, context)
    // It exists from the start, so that its rate is known from the first line on.
    lose(0)
    process.stdout.on("error", () => lose(1))
    const log = (...line: ReadonlyArray<unknown>) =>
      process.stdout.writableLength > MAX_WAITING_BYTES ? lose(1) : console.log(...line)
    return yield* Effect.provideService(service, Console.Console, { ...console, log })
  })
