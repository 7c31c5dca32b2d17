/**
 * Maximum share of accepted messages reported as unwanted, as published by mailbox providers (quoted in November 2026):
 * - Google, Email sender guidelines, https://support.google.com/a/answer/81126: "Keep spam rates reported in Postmaster Tools below 0.10% and avoid
 *   ever reaching a spam rate of 0.30% or higher". In force since February 2024.
 * - Yahoo, Sender Hub, https://senders.yahooinc.com/best-practices/: below 0.3 %. Its Insights show 0.1 % as the threshold of a warning.
 *
 * Providers divide by the messages in the inbox, and report only some complaints: their rates are higher than ours.
 */
export const COMPLAINT_THRESHOLDS = { lower: 0.001, upper: 0.003 } as const

/** Fewer complaints aren't significant, however high their share of a small campaign is. */
export const MIN_COMPLAINTS = 3

/** Levels of a campaign's complaints, with their labels. */
export const COMPLAINT_LEVELS = {
  low: "below 0.1 %",
  few: `fewer than ${MIN_COMPLAINTS}, too few to judge`,
  raised: "0.1 % or more, which mailbox providers warn of",
  high: "0.3 % or more, where mailbox providers treat the sender as a spammer",
} as const
export type ComplaintLevel = keyof typeof COMPLAINT_LEVELS

/** Returns the share of accepted messages; null if there are none. */
export const shareOfSent = (count: number, { sent }: { readonly sent: number }): number | null =>
  sent > 0 ? count / sent : null

export const complaintLevel = (counts: { readonly sent: number; readonly complained: number }): ComplaintLevel => {
  const rate = shareOfSent(counts.complained, counts) ?? 0
  if (rate < COMPLAINT_THRESHOLDS.lower) return "low"
  if (counts.complained < MIN_COMPLAINTS) return "few"
  return rate < COMPLAINT_THRESHOLDS.upper ? "raised" : "high"
}
