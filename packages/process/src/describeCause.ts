import { Cause } from "effect"

/**
 * Describes what went wrong for a log: each error's name and where it was thrown.
 *
 * An error's own words are left out, because they may hold an e-mail address or a secret; the database's failures are known to hold none.
 */
export const describeCause = (cause: Cause.Cause<unknown>): ReadonlyArray<string> => cause.reasons.map(describe)

const describe = (reason: Cause.Reason<unknown>): string => {
  if (Cause.isInterruptReason(reason)) return "interrupted"
  const error = Cause.isFailReason(reason) ? reason.error : reason.defect
  if (!(error instanceof Error)) return "unknown"
  const words = error.name === "DatabaseFailure" ? `: ${error.message}` : ""
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line))
  return [error.name + words, ...frames.slice(0, 6)].join("\n")
}
