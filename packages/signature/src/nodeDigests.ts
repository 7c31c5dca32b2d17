import { createHmac, createSecretKey, type KeyObject } from "node:crypto"

const MAX_KEYS = 1024
const keys = new Map<string, KeyObject>()

/** Computes the hex digest of `<timestamp>.<body>` under each secret with `node:crypto`. */
export function nodeDigests(body: Uint8Array | string, secrets: readonly string[], timestamp: number): string[] {
  return secrets.map((secret) => {
    const hmac = createHmac("sha256", keyOf(secret))
    if (typeof body === "string") hmac.update(`${timestamp}.${body}`)
    else hmac.update(`${timestamp}.`).update(body)
    return hmac.digest("hex")
  })
}

// On Node 24, for 2 KB: a kept key 2.3 µs, the secret as a string 2.4 µs, a key made for the call 3.1 µs, the secret as a Buffer 9.5 µs.
function keyOf(secret: string): KeyObject {
  const kept = keys.get(secret)
  if (kept !== undefined) return kept
  for (const oldest of keys.keys()) {
    if (keys.size < MAX_KEYS) break
    keys.delete(oldest)
  }
  const key = createSecretKey(secret, "utf8")
  keys.set(secret, key)
  return key
}
