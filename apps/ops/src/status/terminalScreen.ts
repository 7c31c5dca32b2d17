import { Effect } from "effect"

/** A terminal that shows one text at a time. */
export type Screen = Pick<NodeJS.WriteStream, "write" | "columns" | "rows">

const ENTER = "\u001b[?1049h\u001b[?25l"
const LEAVE = "\u001b[?25h\u001b[?1049l"
const HOME = "\u001b[H"
const CLEAR_TO_LINE_END = "\u001b[K"
const CLEAR_BELOW = "\u001b[J"

/**
 * Opens the other screen of a terminal, on which each text replaces the one before, cut to its size.
 *
 * When the scope closes, the first screen returns with all that was on it, and the last text is written below.
 */
export const terminalScreen = Effect.fnUntraced(function* (terminal: Screen) {
  let last: ReadonlyArray<string> = []
  yield* Effect.acquireRelease(
    Effect.sync(() => void terminal.write(ENTER)),
    () => Effect.sync(() => void terminal.write(LEAVE + last.map((line) => `${line}\n`).join(""))),
  )
  return {
    show: (lines: ReadonlyArray<string>) =>
      Effect.sync(() => {
        last = lines
        // The last column and the last line are left free, because a terminal wraps or scrolls after them.
        const shown = lines
          .slice(0, (terminal.rows || 24) - 1)
          .map((line) => `${[...line].slice(0, (terminal.columns || 80) - 1).join("")}${CLEAR_TO_LINE_END}\r\n`)
        terminal.write(HOME + shown.join("") + CLEAR_BELOW)
      }),
  }
})
