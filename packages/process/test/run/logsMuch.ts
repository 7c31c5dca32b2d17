import { Effect, Metric } from "effect"
import { runService } from "../../src/runProcess.ts"

const LINES = 2000
const line = "x".repeat(500)

/** Logs a megabyte, and says on standard error how many lines were lost, and how much waits in memory. */
runService(
  "logsMuch",
  Effect.gen(function* () {
    for (let n = 0; n < LINES; n++) yield* Effect.andThen(Effect.logInfo(line), Effect.sleep(0))
    const snapshot = yield* Metric.snapshot
    const lost = snapshot.find(({ id }) => id === "outreach_log_lines_lost_total")
    const { count } = lost!.state as { count: number }
    process.stderr.write(JSON.stringify({ count, waiting: process.stdout.writableLength }))
  }),
)
