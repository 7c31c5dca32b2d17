import { Clock, Console, Effect } from "effect"

/**
 * Shows one line at a time on a standard stream until the scope closes. On a terminal, each line replaces the one before, and the last
 * one stays. Without a terminal, prints each changed line.
 */
export const progressLine = Effect.fnUntraced(function* (streamName: "stdout" | "stderr") {
  const stream = process[streamName]
  if (stream.isTTY) return yield* terminalLine(stream, { begin: "", end: "\n" })
  return changedLines(streamName === "stdout" ? Console.log : Console.error)
})

const changedLines = (write: (line: string) => Effect.Effect<void>) => {
  let shown = ""
  return {
    show: (line: string) =>
      Effect.suspend(() => {
        if (line === shown) return Effect.void
        shown = line
        return write(line)
      }),
  }
}

/** Shows the progress of a task. */
export interface ProgressBar {
  readonly advance: (steps: number) => Effect.Effect<void>
}

const PRINT_INTERVAL_MS = 5000

/** Shows a progress bar on standard error until the scope closes. Without a terminal, prints a line every five seconds. */
export const progressBar = Effect.fnUntraced(function* (label: string, total: number) {
  const { stderr } = process
  const ends = { begin: HIDE_CURSOR, end: CLEAR_LINE + SHOW_CURSOR }
  const line = stderr.isTTY ? yield* terminalLine(stderr, ends) : undefined
  let samples: ReadonlyArray<Sample> = []
  let printedAt = yield* Clock.currentTimeMillis
  const advance = Effect.fnUntraced(function* (steps: number) {
    const at = yield* Clock.currentTimeMillis
    const done = (samples.at(-1)?.done ?? 0) + steps
    samples = [...samples, { done, at }].slice(-SAMPLES)
    if (line !== undefined) {
      const share = total > 0 ? Math.min(1, done / total) : 1
      yield* line.show(`${label} ${drawBar(share)}${remainingTime(samples, total)}`)
    } else if (at - printedAt >= PRINT_INTERVAL_MS) {
      printedAt = at
      yield* Console.error(`${label}: ${Math.floor((100 * done) / total)}%`)
    }
  })
  if (line !== undefined) yield* advance(0)
  return { advance } satisfies ProgressBar
})

/** Renders a share from 0 to 1 as a bar with a percentage. */
export const drawBar = (share: number, width = 40): string => {
  const filled = Math.floor(share * width)
  return `${"█".repeat(filled)}${"░".repeat(width - filled)} ${Math.floor(share * 100)}%`
}

interface Sample {
  readonly done: number
  readonly at: number
}

/** Number of latest steps used to measure the speed. */
const SAMPLES = 10

const remainingTime = (samples: ReadonlyArray<Sample>, total: number): string => {
  const [first, last] = [samples[0]!, samples.at(-1)!]
  const seconds = Math.ceil(((total - last.done) * (last.at - first.at)) / (last.done - first.done) / 1000)
  return Number.isFinite(seconds) ? ` (${formatSeconds(Math.max(0, seconds))} left)` : ""
}

const formatSeconds = (seconds: number): string => {
  const inFives = (count: number) => 5 * Math.round(count / 5)
  if (seconds > 3600) return `${Math.floor(seconds / 3600)}h${inFives((seconds % 3600) / 60)}m`
  if (seconds > 60) return `${Math.floor(seconds / 60)}m${inFives(seconds % 60)}s`
  return `${seconds > 10 ? inFives(seconds) : seconds}s`
}

type Terminal = Pick<NodeJS.WriteStream, "write" | "columns">

const CLEAR_LINE = "\r\u001b[2K"
const HIDE_CURSOR = "\u001b[?25l"
const SHOW_CURSOR = "\u001b[?25h"

/** Replaces a line of a terminal. Writes `begin` first, and `end` when the scope closes. */
const terminalLine = Effect.fnUntraced(function* (terminal: Terminal, { begin, end }: { begin: string; end: string }) {
  const write = (text: string) => Effect.sync(() => void terminal.write(text))
  yield* Effect.acquireRelease(write(begin), () => write(end))
  // Cut to the terminal's width, because a wrapped line can't be overwritten.
  return changedLines((line) => write(CLEAR_LINE + line.slice(0, (terminal.columns || 80) - 1)))
})
