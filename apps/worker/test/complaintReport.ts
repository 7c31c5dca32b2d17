import complaints from "./data/complaints.json" with { type: "json" }

/**
 * Reports as they are seen, shortened: their source, and what becomes of the message's recipient. The message that they are about is ours: the
 * real senders' return paths and headers have given way to `{mailFrom}` and `{seal}`.
 */
export const complaintReports: ReadonlyArray<{
  readonly source: string
  readonly expected: string
  readonly report: ReadonlyArray<string>
}> = complaints

/** Writes the report of a source on a message with this local part of its return path. */
export const complaintReport = (source: string, localPart: string, domain: string): string =>
  complaintReports
    .find((each) => each.source === source)!
    .report.join("\r\n")
    .replaceAll("{seal}", localPart)
    .replaceAll("{mailFrom}", `${localPart}@${domain}`)
