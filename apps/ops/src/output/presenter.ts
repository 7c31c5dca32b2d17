import { Console, Effect } from "effect"
import { CliOutput } from "effect/cli"

/** Prints the requested help or version. Prints nothing for a wrong command line, which `reportFailure` reports in one sentence. */
export const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "Version" || (event._tag === "Help" && event.reason === "Requested")
      ? CliOutput.defaultPresenter.present(event)
      : Effect.void,
}

/** Prints the requested help or version as one JSON value. Leaves a wrong command line to `reportFailure`. */
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
