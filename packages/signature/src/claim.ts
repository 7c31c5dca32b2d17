import { assertSignable } from "./assertSignable.ts"
import { MAX_SECONDS, parseHeader, type SignatureHeader } from "./header.ts"
import { SignatureError } from "./SignatureError.ts"

/** Allowed difference between a timestamp and `now`, in seconds. */
export interface Tolerance {
  /** Maximum age of a signature. Default 300. */
  readonly past?: number | undefined
  /** How far the signer's clock may be ahead. Default 300. */
  readonly future?: number | undefined
}

/** Options of `verify`. */
export interface VerifyOptions {
  /** Current Unix time in seconds, fractions allowed. For a queued request: the time of its receipt. */
  readonly now: number
  /** Up to 3,600 seconds for both directions or for each. The limit itself is accepted. Default 300. */
  readonly tolerance?: number | Tolerance | undefined
}

/** Result of a successful verification. */
export interface VerifiedSignature {
  /** Time of signing, in Unix seconds. */
  readonly timestamp: number
  /** Index of the first given secret that matched. */
  readonly secretIndex: number
  /** Index of the first `v1` entry that matched that secret, counting only `v1` entries. */
  readonly entryIndex: number
}

const DEFAULT_TOLERANCE = 300
/** One hour. Larger values are milliseconds by mistake, or disable the protection against replays. */
const MAX_TOLERANCE = 3600

/** Returns the tolerance for both directions, for example when a process starts. Throws `RangeError` unless each is 0 to 3,600 seconds. */
export function readTolerance(tolerance: number | Tolerance = {}): { readonly past: number; readonly future: number } {
  const { past = DEFAULT_TOLERANCE, future = DEFAULT_TOLERANCE } =
    Object(tolerance) === tolerance
      ? (tolerance as Tolerance)
      : { past: tolerance as number, future: tolerance as number }
  if (!isTolerance(past) || !isTolerance(future))
    throw new RangeError("tolerance must be 0 to 3600 seconds, not milliseconds")
  return { past, future }
}

function isTolerance(value: number): boolean {
  return Number.isFinite(value) && value >= 0 && value <= MAX_TOLERANCE
}

/** Checks the current time, for example when a process starts. Throws `RangeError` unless it is in Unix seconds (not milliseconds). */
export function assertNow(now: number): void {
  if (!Number.isFinite(now) || now > MAX_SECONDS) throw new RangeError("now must be Unix seconds, not milliseconds")
}

/** Parses and checks a header before any digest is computed. */
export function readClaim(
  header: string | null | undefined,
  body: Uint8Array | string,
  secrets: readonly string[],
  { now, tolerance }: VerifyOptions,
): SignatureHeader {
  const { past, future } = readTolerance(tolerance)
  assertNow(now)
  assertSignable(body, secrets)
  if (!header) throw new SignatureError("missing_header")
  if (typeof header !== "string") throw new SignatureError("malformed_header")
  const claim = parseHeader(header)
  const age = now - claim.timestamp
  if (age > past || -age > future) throw new SignatureError("timestamp_out_of_tolerance")
  return claim
}

/** Finds the secret and the entry that match, given the hex digest for each secret. */
export function matchClaim({ timestamp, entries }: SignatureHeader, digests: readonly string[]): VerifiedSignature {
  let match: VerifiedSignature | undefined
  // Compares every pair, so that timing doesn't reveal partial matches.
  for (const [secretIndex, digest] of digests.entries()) {
    for (const [entryIndex, entry] of entries.entries()) {
      if (equalInConstantTime(digest, entry)) match ??= { timestamp, secretIndex, entryIndex }
    }
  }
  if (match === undefined) throw new SignatureError("no_match")
  return match
}

// Both are 64 hex digits, as the header's grammar and the digest's length ensure.
function equalInConstantTime(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}
