const utf8 = new TextEncoder()
const algorithm = { name: "HMAC", hash: "SHA-256" }

/** Computes the hex digest of `<timestamp>.<body>` for each secret with Web Crypto. */
export async function webDigests(
  body: Uint8Array | string,
  secrets: readonly string[],
  timestamp: number,
): Promise<string[]> {
  const content = signedContent(body, timestamp)
  return Promise.all(
    secrets.map(async (secret) => {
      const key = await crypto.subtle.importKey("raw", utf8.encode(secret), algorithm, false, ["sign"])
      return hex(new Uint8Array(await crypto.subtle.sign("HMAC", key, content)))
    }),
  )
}

function signedContent(body: Uint8Array | string, timestamp: number): Uint8Array<ArrayBuffer> {
  const prefix = utf8.encode(`${timestamp}.`)
  const bytes = typeof body === "string" ? utf8.encode(body) : body
  const content = new Uint8Array(prefix.length + bytes.length)
  content.set(prefix)
  // Copying from a detached buffer throws, even though it is empty.
  if (bytes.length > 0) content.set(bytes, prefix.length)
  return content
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
}
