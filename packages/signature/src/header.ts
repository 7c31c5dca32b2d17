import { SignatureError } from "./SignatureError.ts"

/** A parsed signature header. */
export interface SignatureHeader {
  /** When it was signed, in Unix seconds. */
  readonly timestamp: number
  /** The `v1` entries in the header's order, each 64 lowercase hex digits. */
  readonly entries: readonly string[]
}

const MAX_LENGTH = 4096
const MAX_ITEMS = 32

// Leading zeros are refused, so that the number and the signed text stand for each other; 15 digits are safe integers.
const TIMESTAMP = /^(?:0|[1-9][0-9]{0,14})$/
// Spaces come in where headers that were sent twice are joined.
const ITEM = /^[^= ]+=[^ ]*$/
const ENTRY = /^[0-9a-f]{64}$/

/**
 * Parses `t=<unix-seconds>,v1=<hex>[,v1=<hex>...]`, ignoring items of unknown schemes.
 *
 * Throws `SignatureError` `malformed_header` on anything else: more than 4,096 characters or 32 items, no `t` or two, no `v1`,
 * a `v1` that is not 64 lowercase hex digits. Source: Outreach Partner API specification, Authentication, 4.
 */
export function parseHeader(header: string): SignatureHeader {
  const items = header.split(",", MAX_ITEMS + 1)
  const valuesOf = (scheme: string): string[] =>
    items.flatMap((item) => (item.startsWith(scheme) ? item.slice(scheme.length) : []))
  const timestamps = valuesOf("t=")
  const entries = valuesOf("v1=")
  if (
    header.length > MAX_LENGTH ||
    items.length > MAX_ITEMS ||
    !items.every((item) => ITEM.test(item)) ||
    // None, or two with a comma between, is no number either.
    !TIMESTAMP.test(timestamps.join()) ||
    entries.length === 0 ||
    !entries.every((entry) => ENTRY.test(entry))
  ) {
    throw new SignatureError("malformed_header")
  }
  return { timestamp: Number(timestamps[0]), entries }
}

/** Checks that a timestamp can be written into a header; throws `RangeError` when it is no whole number of seconds. */
export function assertTimestamp(timestamp: number): void {
  if (!Number.isSafeInteger(timestamp) || timestamp < 0) {
    throw new RangeError("timestamp must be Unix seconds as a whole number")
  }
}

/** Renders a signature header with one `v1` entry for each signature. */
export function formatHeader({ timestamp, entries }: SignatureHeader): string {
  let header = `t=${timestamp}`
  for (const entry of entries) header += `,v1=${entry}`
  return header
}
