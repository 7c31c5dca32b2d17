import type { Attempt } from "./Delivery.ts"

/** Returns the result of an attempt in a word or two: its status, or why it had none, such as `connect timeout`. */
export const describeOutcome = ({ status, outcome }: Pick<Attempt, "status" | "outcome">): string =>
  status === null ? outcome.replaceAll("_", " ") : String(status)

/** Returns the cause of failures in one line, such as `500 upstream timeout`. */
export const describeCause = (
  group: Pick<Attempt, "status" | "outcome"> & { readonly firstLine: string | null },
): string => [describeOutcome(group), group.firstLine].filter((text) => text !== null).join(" ")

/** Returns which share of an endpoint's calls failed since failures began, such as `80 %`; null once they have ended. */
export const describeShare = (group: { readonly failures: number; readonly calls: number | null }): string | null => {
  if (group.calls === null) return null
  const share = Math.min(1, group.failures / Math.max(1, group.calls))
  if (share < 0.01) return "below 1 %"
  // Not all of them until it is all of them.
  return `${share === 1 ? 100 : Math.min(99, Math.round(share * 100))} %`
}
