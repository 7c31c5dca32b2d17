import { snakeName } from "@outreach/backoffice/csv/csvTable"
import { formatCounted } from "@outreach/backoffice/format"
import { DatabaseFailure } from "@outreach/postgres/DatabaseFailure"
import { SecretUnopened } from "@outreach/postgres/deliveries/SecretCipher"
import { describeFault, faultOf } from "@outreach/postgres/describeFault"
import { describeCause } from "@outreach/process/describeCause"
import { Cause, Config, Console, Effect } from "effect"
import { CliError, CliOutput } from "effect/cli"
import { SqlError } from "effect/sql"
import { formatHelp } from "./formatHelp.ts"
import { OUTPUT_FORMS, Output, printParts, snakeCase, toJson, toVisible } from "./Output.ts"

/** Prints a failure as a sentence on standard error or as `{"error": …}`. Returns the exit code: 2 for wrong usage, otherwise 1. */
export const reportFailure = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
  const failure = describeFailure(cause)
  if ((yield* Output) === "json") yield* Console.log(toJson({ error: failure }))
  else yield* Console.error(toVisible(failure.message))
  return failure.code === USAGE ? 2 : 1
})

const USAGE = "usage"

interface Failure {
  readonly code: string
  readonly message: string
}

/** Describes a failure by a code, which is the snake-cased tag of the error, and a sentence. */
export const describeFailure = (cause: Cause.Cause<unknown>): Failure => {
  for (const reason of cause.reasons) {
    if (Cause.isInterruptReason(reason)) continue
    const error = Cause.isFailReason(reason) ? reason.error : reason.defect
    if (CliError.isCliError(error)) return { code: USAGE, message: explainUsage(error) }
    if (error instanceof Config.ConfigError) {
      return { code: "configuration", message: (error.cause as Error).message }
    }
    if (SqlError.isSqlError(error)) {
      const { code, advice } = describeFault(error)
      return { code: "database_failure", message: `The database failed (${code}): ${advice}.` }
    }
    if (error instanceof Error && (Cause.isFailReason(reason) || isExpected(error))) {
      const { _tag, name, message, stack, cause, ...details } = error as Error & { _tag?: string }
      return {
        code: snakeName(_tag ?? name).replace(/^_/, ""),
        message: error instanceof DatabaseFailure ? explainDatabase(error) : message,
        ...(snakeCase(details) as object),
      }
    }
  }
  return { code: "internal_error", message: `Unexpected failure: ${describeCause(cause).join("\n")}` }
}

/** Reports whether operators can fix a defect, so that its message is for them. */
const isExpected = (defect: Error): boolean => defect instanceof DatabaseFailure || defect instanceof SecretUnopened

const explainDatabase = ({ operation, reason }: DatabaseFailure): string =>
  `${operation} failed in the database (${reason}): ${faultOf(reason).advice}.`

const explainUsage = (error: CliError.CliError): string => {
  if (error._tag !== "ShowHelp") return describeWithoutValue(error)
  const command = error.commandPath.join(" ")
  const faults = error.errors.map(describeWithoutValue)
  const sentence = faults.length === 0 ? `${command} needs a command` : faults.join("; ")
  return `${sentence.replace(/[^.?]$/, "$&.")} See ${command} --help.`
}

/** Flags of other command lines for the output format. */
const OUTPUT_FLAG = /^--?(json|csv|table|format|j|o)$/

/** The flags of every command, which the parser doesn't suggest. */
const GLOBAL_FLAGS = ["--output", "--help", "--version", "--completions"]

/** Reports whether two words have the same letters, except for two at most. */
const isAlike = (a: string, b: string): boolean => {
  const without = (word: string, letters: string) => [...letters].reduce((rest, each) => rest.replace(each, ""), word)
  return without(a, b).length + without(b, a).length <= 2
}

/** Describes a usage error without the typed value, because it may be an API key, an NPI or an e-mail address. */
const describeWithoutValue = (error: CliError.NonShowHelpErrors): string => {
  const message = error.message.trim().replace(/\s*\n\s*/g, " ")
  switch (error._tag) {
    case "InvalidValue": {
      if (error.value === "") return message
      const where = error.kind === "flag" ? `flag --${error.option}` : `argument <${error.option}>`
      // For a switch with a value, the parser's advice repeats the value.
      return `Invalid value for ${where}. Expected: ${error.expected.replace(`=${error.value}`, "")}`
    }
    case "UnexpectedArgument":
      return `${formatCounted(error.arguments.length, "argument")} more than the command takes`
    case "UnrecognizedOption": {
      const [, form] = OUTPUT_FLAG.exec(error.option) ?? []
      const similar = GLOBAL_FLAGS.filter((flag) => isAlike(error.option, flag))
      const meant =
        form === undefined
          ? [...error.suggestions, ...similar]
          : [`--output ${OUTPUT_FORMS.find((each) => each === form) ?? "json"}`]
      return `Unknown flag ${error.option} of ${error.command?.join(" ")}${suggest(meant)}`
    }
    case "UnknownSubcommand":
      return `Unknown command after ${error.parent?.join(" ")}${suggest(error.suggestions)}`
    default:
      return message
  }
}

const suggest = (meant: ReadonlyArray<string>): string =>
  meant.length === 0 ? "" : `. Did you mean ${meant.join(" or ")}?`

/**
 * Prints the requested help or version, with `--output json` as one JSON value. Prints no text for a wrong command line, which `reportFailure` reports
 * in one sentence.
 */
export const presenter: CliOutput.Presenter = {
  present: Effect.fnUntraced(function* (event) {
    if (event._tag === "Help" && event.reason === "Requested") {
      const help = formatHelp(event.helpDoc)
      yield* printParts({ help }, [help])
    } else if (event._tag === "Version" && (yield* Output) === "json") {
      yield* Console.log(JSON.stringify({ name: event.name, version: event.version }))
    } else if (event._tag === "Version") {
      yield* CliOutput.defaultPresenter.present(event)
    }
  }),
}
