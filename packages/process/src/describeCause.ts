import { Cause } from "effect"
import { ListenError } from "./ListenError.ts"

/**
 * Describes a cause for a log: each error's name and stack frames.
 *
 * The error's message is left out, because it may hold an e-mail address or a secret. The messages of `DatabaseFailure` hold neither,
 * and that of a `ListenError` says all.
 */
export const describeCause = (cause: Cause.Cause<unknown>): ReadonlyArray<string> => cause.reasons.map(describe)

const describe = (reason: Cause.Reason<unknown>): string => {
  if (Cause.isInterruptReason(reason)) return "interrupted"
  const error = Cause.isFailReason(reason) ? reason.error : reason.defect
  if (!(error instanceof Error)) return "unknown"
  if (error instanceof ListenError) return error.message
  const message = error.name === "DatabaseFailure" ? `: ${error.message}` : ""
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line))
  return [error.name + message, ...frames.slice(0, 6)].join("\n")
}
