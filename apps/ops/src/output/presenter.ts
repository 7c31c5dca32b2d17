import { Console, Effect } from "effect"
import { CliOutput } from "effect/cli"
import { withoutValue } from "./withoutValue.ts"

/** Shows help and version; what was wrong with a command line goes to standard error, under its help. */
export const presenter: CliOutput.Presenter = {
  present: Effect.fnUntraced(function* (event) {
    if (event._tag !== "InvalidInvocation") return yield* CliOutput.defaultPresenter.present(event)
    const formatter = yield* CliOutput.Formatter
    yield* Console.error(formatter.formatHelpDoc(event.helpDoc))
    yield* Console.error(formatter.formatErrors(event.errors.map(withoutValue)))
  }),
}

/** With `--json`: help and version as one JSON value; what was wrong is left to the error that follows. */
export const jsonPresenter: CliOutput.Presenter = {
  present: Effect.fnUntraced(function* (event) {
    const formatter = CliOutput.defaultFormatter({ colors: false })
    if (event._tag === "Help" && event.reason === "Requested") {
      yield* Console.log(JSON.stringify({ help: formatter.formatHelpDoc(event.helpDoc) }))
    }
    if (event._tag === "Version") {
      yield* Console.log(JSON.stringify({ name: event.name, version: event.version }))
    }
  }),
}
