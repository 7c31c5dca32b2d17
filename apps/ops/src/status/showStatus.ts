import { readStatus, type Status } from "@outreach/backoffice/inspection/readStatus"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { EndpointRepositoryPg } from "@outreach/postgres/deliveries/EndpointRepositoryPg"
import { FactReader } from "@outreach/postgres/operators/FactReader"
import { Cause, Clock, Console, Effect, Layer } from "effect"
import { database } from "../database.ts"
import { formatCell, Output, print, snakeCase } from "../output/Output.ts"
import { describeFailure } from "../output/reportFailure.ts"
import { formatStatus } from "./formatStatus.ts"

/** Longer than the time limit of a statement. */
const TIME_LIMIT = "35 seconds"

/** The services for the status, on a separate connection. */
const services = Layer.mergeAll(FactReader.layer, EndpointRepositoryPg).pipe(Layer.provideMerge(database))

/** Shows the status once; with `watch` repeatedly on a terminal, and as JSON. */
export const showStatus = Effect.fnUntraced(function* (options: {
  readonly watch?: boolean
  readonly interval: number
}) {
  if (options.watch && ((yield* Output) === "json" || process.stdout.isTTY)) {
    return yield* watchStatus({ seconds: options.interval, terminal: process.stdout })
  }
  const status = yield* Effect.provide(readStatus, services)
  yield* print(status, () => formatStatus(status).join("\n"))
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
  const json = (yield* Output) === "json"
  const printJson = (value: object) => Console.log(JSON.stringify(snakeCase(value)))
  const screen = json ? undefined : yield* terminalScreen(options.terminal)
  let last: Status | undefined
  let since: string | undefined

  const showStatus = (status: Status) => {
    last = status
    since = undefined
    return screen?.show(formatStatus(status)) ?? printJson(status)
  }
  const showFailure = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
    const now = fromUnixMillis(yield* Clock.currentTimeMillis)
    since ??= now
    const { code, message } = describeFailure(cause)
    const said = message.split("\n")[0]!
    if (screen === undefined) return yield* printJson({ at: now, since, error: { code, message: said } })
    yield* screen.show([
      formatCell(`${formatCell(now)}: ${said}`),
      `Nothing could be read since ${formatCell(since)}. The last reading${last === undefined ? ": none." : ":"}`,
      "",
      ...(last === undefined ? [] : formatStatus(last)),
    ])
  })

  const readings = Effect.scoped(
    Effect.gen(function* () {
      const context = yield* Layer.build(services)
      while (true) {
        yield* showStatus(yield* Effect.timeout(Effect.provideContext(readStatus, context), TIME_LIMIT))
        yield* Effect.sleep(options.seconds * 1000)
      }
    }),
  )
  return yield* readings.pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause as Cause.Cause<never>)
        : Effect.andThen(showFailure(cause), Effect.sleep(options.seconds * 1000)),
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
  return {
    show: (lines: ReadonlyArray<string>) =>
      Effect.sync(() => {
        last = lines
        // The last column and line stay free, because a terminal wraps or scrolls after them.
        const shown = lines
          .slice(0, (terminal.rows || 24) - 1)
          .map((line) => `${[...line].slice(0, (terminal.columns || 80) - 1).join("")}${CLEAR_TO_LINE_END}\r\n`)
        terminal.write(HOME + shown.join("") + CLEAR_BELOW)
      }),
  }
})
