import { Clock, Console, Effect } from "effect"
import { Output } from "./Output.ts"

/** Shows the progress of a long task. */
export interface ProgressBar {
  advance(steps: number): Effect.Effect<void>
}

const LINE_INTERVAL_MS = 5000

/** Shows a bar on standard error until the scope closes. Without a terminal, prints a line every five seconds; with `--json` or `quiet`, nothing. */
export const progressBar = Effect.fnUntraced(function* (
  label: string,
  total: number,
  { quiet }: { readonly quiet: boolean },
) {
  const { json } = yield* Output
  if (quiet || json) return { advance: () => Effect.void } satisfies ProgressBar
  return yield* process.stderr.isTTY ? drawnBar(label, total) : printedBar(label, total)
})

const drawnBar = Effect.fnUntraced(function* (label: string, total: number) {
  // Loaded here, because few commands draw a bar.
  const { SingleBar } = yield* Effect.promise(() => import("cli-progress"))
  const bar = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const bar = new SingleBar({
        format: `${label} {bar} {percentage}% ({eta_formatted} left)`,
        stream: process.stderr,
        barCompleteChar: "█",
        barIncompleteChar: "░",
        hideCursor: true,
        clearOnComplete: true,
        gracefulExit: false,
      })
      bar.start(total, 0)
      return bar
    }),
    (bar) => Effect.sync(() => bar.stop()),
  )
  return { advance: (steps) => Effect.sync(() => bar.increment(steps)) } satisfies ProgressBar
})

const printedBar = Effect.fnUntraced(function* (label: string, total: number) {
  let done = 0
  let printedAt = yield* Clock.currentTimeMillis
  return {
    advance: Effect.fnUntraced(function* (steps) {
      done += steps
      const now = yield* Clock.currentTimeMillis
      if (now - printedAt < LINE_INTERVAL_MS) return
      printedAt = now
      yield* Console.error(`${label}: ${Math.floor((100 * done) / total)}%`)
    }),
  } satisfies ProgressBar
})
