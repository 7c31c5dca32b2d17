/** The forms in which suppressions are exported: that of `suppressions import`, and those that other services import. */
export const EXPORT_FORMATS = ["ours", "ses", "postmark", "sendgrid", "listmonk"] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]
