import { describeCause } from "@outreach/process/describeCause"
import { Cause, Config, Console, Effect } from "effect"
import { CliError } from "effect/cli"
import { Output } from "./Output.ts"
import { snakeCase, snakeName } from "./snakeCase.ts"
import { withoutValue } from "./withoutValue.ts"

/** Prints a failure, as one sentence on standard error or as `{"error": …}`. Returns the exit code: 2 for wrong usage, else 1. */
export const reportFailure = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
  const { json } = yield* Output
  const failure = explain(cause)
  if (json) yield* Console.log(JSON.stringify({ error: failure }))
  else yield* Console.error(failure.message)
  return failure.code === USAGE ? 2 : 1
})

const USAGE = "usage"

interface Failure {
  readonly code: string
  readonly message: string
}

const explain = (cause: Cause.Cause<unknown>): Failure => {
  for (const reason of cause.reasons) {
    if (Cause.isInterruptReason(reason)) continue
    const error = Cause.isFailReason(reason) ? reason.error : reason.defect
    if (CliError.isCliError(error)) return { code: USAGE, message: explainUsage(error) }
    if (error instanceof Config.ConfigError) {
      return { code: "configuration", message: (error.cause as Error).message }
    }
    if (error instanceof Error && (Cause.isFailReason(reason) || error.name === "DatabaseFailure")) {
      const { _tag, name, message, stack, cause, ...details } = error as Error & { _tag?: string; reason?: unknown }
      // Our statements have no syntax errors, so PostgreSQL reports a table or column that a migration would create.
      const hint = details.reason === "SqlSyntaxError" ? "; has `ops migrate` been run?" : ""
      return {
        code: snakeName(_tag ?? name).replace(/^_/, ""),
        message: message + hint,
        ...(snakeCase(details) as object),
      }
    }
  }
  return { code: "internal_error", message: `Unexpected failure: ${describeCause(cause).join("\n")}` }
}

const explainUsage = (error: CliError.CliError): string => {
  if (error._tag !== "ShowHelp") return withoutValue(error).message
  const command = error.commandPath.join(" ")
  const faults = error.errors.map((each) =>
    withoutValue(each)
      .message.trim()
      .replace(/\s*\n\s*/g, " "),
  )
  const sentence = faults.length === 0 ? `${command} needs a command` : faults.join("; ")
  return `${sentence.replace(/[^.?]$/, "$&.")} See ${command} --help.`
}
