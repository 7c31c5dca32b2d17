import type { SmtpError } from "./SmtpError.ts"

/** Describes why an SMTP server did not carry out a command, by codes alone: the server's own words may hold an address. */
export const describeSmtpFailure = (error: unknown): string => {
  const { code = "unknown", command, responseCode, response = "" } = (error ?? {}) as Partial<SmtpError>
  const at = command === undefined ? "" : ` at ${command}`
  if (responseCode === undefined) return `${code}${at}`
  const [enhanced = ""] = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(response) ?? []
  return `${[responseCode, enhanced].filter(Boolean).join(" ")}${at}`
}
