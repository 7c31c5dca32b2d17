import complaints from "./data/complaints.json" with { type: "json" }

/**
 * Shortened real reports with their source and expected result. Return paths and headers of the reported message
 * are replaced by `{mailFrom}` and `{seal}`.
 */
export const complaintReports: ReadonlyArray<{
  readonly source: string
  readonly expected: string
  readonly report: ReadonlyArray<string>
}> = complaints

/** Creates a source's report about a message with this local part of its return path. */
export const complaintReport = (source: string, localPart: string, domain: string): string =>
  complaintReports
    .find((each) => each.source === source)!
    .report.join("\r\n")
    .replaceAll("{seal}", localPart)
    .replaceAll("{mailFrom}", `${localPart}@${domain}`)
