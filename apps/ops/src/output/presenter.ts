import { Console, Effect } from "effect"
import { CliOutput } from "effect/cli"

/** Shows the help and the version that are asked for; a wrong command line is left to the failure that follows, which is one sentence. */
export const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "Version" || (event._tag === "Help" && event.reason === "Requested")
      ? CliOutput.defaultPresenter.present(event)
      : Effect.void,
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
