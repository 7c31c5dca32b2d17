import { readStatus } from "@outreach/backoffice/inspection/readStatus"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { Cause, Clock, Console, Effect, Layer } from "effect"
import { formatCell, Output, printParts, snakeCase } from "../output/Output.ts"
import { describeFailure } from "../output/reportFailure.ts"
import { services } from "../services.ts"
import { formatStatus } from "./formatStatus.ts"

/** Longer than the time limit of a statement. */
const TIME_LIMIT = "35 seconds"

/** Shows the status once; with `watch` repeatedly on a terminal, and as JSON. */
export const showStatus = Effect.fnUntraced(function* (options: {
  readonly watch?: boolean
  readonly interval: number
}) {
  if (options.watch && ((yield* Output) === "json" || process.stdout.isTTY)) {
    return yield* watchStatus({ seconds: options.interval, terminal: process.stdout })
  }
  const status = yield* Effect.provide(readStatus, services)
  yield* printParts(status, [formatStatus(status).join("\n")])
})

/**
 * Shows the status of a deployment repeatedly until it is interrupted: on a terminal in place, as JSON with one line for each reading.
 *
 * While the database is down, it reports that and continues with a new connection.
 */
export const watchStatus = Effect.fnUntraced(function* (options: {
  readonly seconds: number
  readonly terminal: Screen
}) {
  const show: (lines: ReadonlyArray<string>, value: object) => Effect.Effect<void> =
    (yield* Output) === "json"
      ? (_, value) => Console.log(JSON.stringify(snakeCase(value)))
      : yield* terminalScreen(options.terminal)
  const wait = Effect.sleep(options.seconds * 1000)
  let last: ReadonlyArray<string> = ["None."]
  let since: string | undefined

  const readings = Effect.gen(function* () {
    const context = yield* Layer.build(services)
    while (true) {
      const status = yield* Effect.timeout(Effect.provideContext(readStatus, context), TIME_LIMIT)
      last = formatStatus(status)
      since = undefined
      yield* show(last, status)
      yield* wait
    }
  }).pipe(Effect.scoped)
  const showFailure = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
    const at = fromUnixMillis(yield* Clock.currentTimeMillis)
    since ??= at
    const { code, message } = describeFailure(cause)
    const failure = message.split("\n")[0]!
    const texts = [
      formatCell(`${formatCell(at)}: ${failure}`),
      `Nothing could be read since ${formatCell(since)}. The last reading:`,
    ]
    yield* show([...texts, "", ...last], { at, since, error: { code, message: failure } })
    yield* wait
  })
  return yield* readings.pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause as Cause.Cause<never>) : showFailure(cause),
    ),
    Effect.forever,
  )
}, Effect.scoped)

/** A terminal that shows one text at a time. */
type Screen = Pick<NodeJS.WriteStream, "write" | "columns" | "rows">

const ENTER = "\u001b[?1049h\u001b[?25l"
const LEAVE = "\u001b[?25h\u001b[?1049l"
const HOME = "\u001b[H"
const CLEAR_TO_LINE_END = "\u001b[K"
const CLEAR_BELOW = "\u001b[J"

/**
 * Opens the alternate screen of a terminal, on which each text replaces the previous one, cut to its size.
 *
 * When the scope closes, the first screen returns with its content, and the last text is written below.
 */
const terminalScreen = Effect.fnUntraced(function* (terminal: Screen) {
  let last: ReadonlyArray<string> = []
  yield* Effect.acquireRelease(
    Effect.sync(() => void terminal.write(ENTER)),
    () => Effect.sync(() => void terminal.write(LEAVE + last.map((line) => `${line}\n`).join(""))),
  )
  return (lines: ReadonlyArray<string>) =>
    Effect.sync(() => {
      last = lines
      // The last column and line stay free, because a terminal wraps or scrolls after them.
      const shown = lines
        .slice(0, (terminal.rows || 24) - 1)
        .map((line) => `${[...line].slice(0, (terminal.columns || 80) - 1).join("")}${CLEAR_TO_LINE_END}\r\n`)
      terminal.write(HOME + shown.join("") + CLEAR_BELOW)
    })
})
