import { readMonotonicMs } from "@outreach/domain/monotonicMs"
import { Console, Effect, type Scope } from "effect"

/** Shows one line at a time. */
export interface ProgressLine {
  readonly show: (line: string) => Effect.Effect<void>
}

const CLEAR_LINE = "\r\u001b[2K"

/**
 * Shows one line at a time on standard error until the scope closes. On a terminal, each line replaces the one before, and the last
 * one stays. Without a terminal, prints each changed line.
 */
export const progressLine: Effect.Effect<ProgressLine, never, Scope.Scope> = Effect.gen(function* () {
  const { stderr } = process
  const write = (text: string) => Effect.sync(() => void stderr.write(text))
  if (stderr.isTTY) yield* Effect.addFinalizer(() => write("\n"))
  let shown = ""
  return {
    show: (line) =>
      Effect.suspend(() => {
        if (line === shown) return Effect.void
        shown = line
        // Cut to the terminal's width, because a wrapped line can't be overwritten.
        return stderr.isTTY ? write(CLEAR_LINE + line.slice(0, (stderr.columns || 80) - 1)) : Console.error(line)
      }),
  }
})

/** Shows the progress of a task. */
export interface ProgressBar {
  readonly advance: (steps: number) => Effect.Effect<void>
}

const PRINT_INTERVAL_MS = 5000

/** Shows a progress bar on standard error until the scope closes. Without a terminal, prints a line every five seconds. */
export const progressBar = Effect.fnUntraced(function* (label: string, total: number) {
  const line = yield* progressLine
  let done = 0
  let printedAt = yield* readMonotonicMs
  const advance = Effect.fnUntraced(function* (steps: number) {
    done += steps
    const share = total > 0 ? Math.min(1, done / total) : 1
    if (process.stderr.isTTY) return yield* line.show(`${label} ${drawBar(share)}`)
    const at = yield* readMonotonicMs
    if (at - printedAt < PRINT_INTERVAL_MS) return
    printedAt = at
    yield* line.show(`${label}: ${Math.floor(100 * share)}%`)
  })
  if (process.stderr.isTTY) yield* advance(0)
  return { advance } satisfies ProgressBar
})

/** Renders a share from 0 to 1 as a bar with a percentage. */
export const drawBar = (share: number, width = 40): string => {
  const filled = Math.floor(share * width)
  return `${"█".repeat(filled)}${"░".repeat(width - filled)} ${Math.floor(share * 100)}%`
}
