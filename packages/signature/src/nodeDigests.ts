import * as crypto from "node:crypto"

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
/** Maximum number of bytes that are copied together for a one-shot hash. Longer bodies are hashed in place. */
const MAX_GATHERED = 262_144
/** Maximum length of a binary body that is copied. Above it, the copy costs more than it saves. Text is always encoded. */
const MAX_COPIED = 32_768

// Scratch buffers of a synchronous function. No data in them outlives a call.
const key = Buffer.allocUnsafeSlow(BLOCK_BYTES)
const gathered = Buffer.allocUnsafeSlow(MAX_GATHERED)
const outerContent = Buffer.allocUnsafeSlow(BLOCK_BYTES + DIGEST_BYTES)
const wordsOf = ({ buffer }: Buffer) => new Uint32Array(buffer, 0, BLOCK_BYTES / 4)
const [keyWords, innerWords, outerWords] = [wordsOf(key), wordsOf(gathered), wordsOf(outerContent)]

/**
 * Computes the hex digest of `<timestamp>.<body>` for each secret with `node:crypto`.
 *
 * On Node 24, an HMAC of 2 KB takes 2.3 µs, mostly for creating the object; two one-shot hashes take 1.6 µs.
 */
export function nodeDigests(body: Uint8Array | string, secrets: readonly string[], timestamp: number): string[] {
  const prefix = `${timestamp}.`
  // A character takes up to three bytes. Node 18 has no one-shot hash.
  const most = BLOCK_BYTES + prefix.length + body.length * (typeof body === "string" ? 3 : 1)
  if (crypto.hash === undefined) {
    return secrets.map((secret) => crypto.createHmac("sha256", secret).update(prefix).update(body).digest("hex"))
  }
  const start = BLOCK_BYTES + gathered.write(prefix, BLOCK_BYTES, "latin1")
  const isCopied = most <= (typeof body === "string" ? MAX_GATHERED : MAX_COPIED)
  const content = gathered.subarray(0, isCopied ? start + gather(body, start) : start)
  return secrets.map((secret) => {
    writePads(secret)
    const innerDigest = isCopied
      ? crypto.hash("sha256", content, "binary")
      : crypto.createHash("sha256").update(content).update(body).digest("binary")
    outerContent.write(innerDigest, BLOCK_BYTES, "latin1")
    return crypto.hash("sha256", outerContent, "hex")
  })
}

/** Appends the body to the gathered bytes. Returns its length in bytes. */
function gather(body: Uint8Array | string, at: number): number {
  if (typeof body === "string") return gathered.write(body, at, "utf8")
  // Copying from a detached buffer throws, even though it is empty.
  if (body.length > 0) gathered.set(body, at)
  return body.length
}

/** Writes the inner and the outer HMAC key (RFC 2104): padded to a block and combined with each pad. */
function writePads(secret: string): void {
  keyWords.fill(0)
  // A character takes up to three bytes.
  if (secret.length * 3 <= BLOCK_BYTES || Buffer.byteLength(secret) <= BLOCK_BYTES) key.write(secret, "utf8")
  else key.set(crypto.createHash("sha256").update(secret).digest())
  for (let i = 0; i < keyWords.length; i++) {
    innerWords[i] = keyWords[i]! ^ 0x36363636
    outerWords[i] = keyWords[i]! ^ 0x5c5c5c5c
  }
}
