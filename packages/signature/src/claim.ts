import { assertSignable } from "./assertSignable.ts"
import { MAX_SECONDS, parseHeader, type SignatureHeader } from "./header.ts"
import { SignatureError } from "./SignatureError.ts"

/** How far a timestamp may lie from `now`, in seconds. */
export interface Tolerance {
  /** How old a signature may be. Default 300. */
  readonly past?: number | undefined
  /** How far ahead the signer's clock may run. Default 300. */
  readonly future?: number | undefined
}

/** What a verifier knows beside its secrets. */
export interface VerifyOptions {
  /** The verifier's clock in Unix seconds, fractions allowed. For a queued request: when it was received. */
  readonly now: number
  /** Up to 3,600 seconds in both directions, or each apart; a signature exactly that far away is accepted. Default 300. */
  readonly tolerance?: number | Tolerance | undefined
}

/** What matched. */
export interface VerifiedSignature {
  /** When it was signed, in Unix seconds. */
  readonly timestamp: number
  /** Which of the given secrets matched: the index of the first that did. */
  readonly secretIndex: number
  /** Which `v1` entry of the header matched that secret: the index of the first that did, counting `v1` entries alone. */
  readonly entryIndex: number
}

const DEFAULT_TOLERANCE = 300
/** An hour: more is milliseconds by mistake, or gives up the protection from replays. */
const MAX_TOLERANCE = 3600

/** Returns a tolerance in both directions, for instance at a process's start; throws `RangeError` unless it is 0 to 3,600 seconds. */
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

/** Checks a clock, for instance at a process's start; throws `RangeError` unless it is Unix seconds, as milliseconds are not. */
export function assertNow(now: number): void {
  if (!Number.isFinite(now) || now > MAX_SECONDS) throw new RangeError("now must be Unix seconds, not milliseconds")
}

/** Reads what a header claims, refusing whatever no digest could save. */
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

/** Finds the secret and the entry that agree, given the hex digest under each secret. */
export function matchClaim({ timestamp, entries }: SignatureHeader, digests: readonly string[]): VerifiedSignature {
  let match: VerifiedSignature | undefined
  // Every pair is compared, so that the time taken does not tell how much of a guess was right.
  for (const [secretIndex, digest] of digests.entries()) {
    for (const [entryIndex, entry] of entries.entries()) {
      if (equalInConstantTime(digest, entry)) match ??= { timestamp, secretIndex, entryIndex }
    }
  }
  if (match === undefined) throw new SignatureError("no_match")
  return match
}

// Both are 64 hex digits: the header's grammar and the digest's length see to that.
function equalInConstantTime(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}
