import * as crypto from "node:crypto"

const MAX_KEYS = 1024
const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
/** The most bytes that are gathered for a one-shot hash; a longer body is hashed where it lies. */
const MAX_GATHERED = 262_144
/** The longest body of bytes that is copied for it: beyond, the copy costs more than it saves. Text is encoded in any case. */
const MAX_COPIED = 32_768

/** A key as HMAC mixes it into its two hashes (RFC 2104): padded to a block, and combined with the inner and the outer pad. */
interface Pads {
  readonly inner: Uint8Array
  readonly outer: Uint8Array
}

const pads = new Map<string, Pads>()
const gathered = Buffer.allocUnsafeSlow(MAX_GATHERED)
const outerContent = Buffer.allocUnsafeSlow(BLOCK_BYTES + DIGEST_BYTES)

/**
 * Computes the hex digest of `<timestamp>.<body>` under each secret with `node:crypto`.
 *
 * On Node 24 an HMAC of 2 KB takes 2.3 µs, of which the SHA-256 is but 1 and the rest makes the object; two one-shot hashes take 1.6 µs.
 */
export function nodeDigests(body: Uint8Array | string, secrets: readonly string[], timestamp: number): string[] {
  const prefix = `${timestamp}.`
  // A character of text takes up to three bytes. Node 18 has no one-shot hash.
  const most = BLOCK_BYTES + prefix.length + body.length * (typeof body === "string" ? 3 : 1)
  if (crypto.hash === undefined) {
    return secrets.map((secret) => crypto.createHmac("sha256", secret).update(prefix).update(body).digest("hex"))
  }
  const start = BLOCK_BYTES + gathered.write(prefix, BLOCK_BYTES, "latin1")
  const isCopied = most <= (typeof body === "string" ? MAX_GATHERED : MAX_COPIED)
  const content = gathered.subarray(0, isCopied ? start + gather(body, start) : start)
  return secrets.map((secret) => {
    const { inner, outer } = padsOf(secret)
    gathered.set(inner)
    outerContent.set(outer)
    const innerDigest = isCopied
      ? crypto.hash("sha256", content, "binary")
      : crypto.createHash("sha256").update(content).update(body).digest("binary")
    outerContent.write(innerDigest, BLOCK_BYTES, "latin1")
    return crypto.hash("sha256", outerContent, "hex")
  })
}

/** Puts the body behind what is gathered already, and returns its length in bytes. */
function gather(body: Uint8Array | string, at: number): number {
  if (typeof body === "string") return gathered.write(body, at, "utf8")
  // Copying from a detached buffer throws, though it holds nothing to copy.
  if (body.length > 0) gathered.set(body, at)
  return body.length
}

function padsOf(secret: string): Pads {
  const kept = pads.get(secret)
  if (kept !== undefined) return kept
  for (const oldest of pads.keys()) {
    if (pads.size < MAX_KEYS) break
    pads.delete(oldest)
  }
  const bytes = Buffer.from(secret, "utf8")
  const key = new Uint8Array(BLOCK_BYTES)
  key.set(bytes.length > BLOCK_BYTES ? crypto.createHash("sha256").update(bytes).digest() : bytes)
  const made = { inner: key.map((byte) => byte ^ 0x36), outer: key.map((byte) => byte ^ 0x5c) }
  pads.set(secret, made)
  return made
}
