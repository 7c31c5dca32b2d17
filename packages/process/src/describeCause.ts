import { Cause } from "effect"
import { ListenError } from "./ListenError.ts"

/**
 * Describes a cause for the log: name and stack frames of each error.
 *
 * Omits messages, which may contain an e-mail address or a secret, except those of `DatabaseFailure`, which contain neither,
 * and of `ListenError`, which are complete.
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
