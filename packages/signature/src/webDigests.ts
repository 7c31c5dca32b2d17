const utf8 = new TextEncoder()
const algorithm = { name: "HMAC", hash: "SHA-256" }

/** Computes the hex digest of `<timestamp>.<body>` under each secret with Web Crypto. */
export async function webDigests(
  body: Uint8Array | string,
  secrets: readonly string[],
  timestamp: number,
): Promise<string[]> {
  const subtle = await webCrypto()
  const content = signedContent(body, timestamp)
  return Promise.all(
    secrets.map(async (secret) => {
      const key = await subtle.importKey("raw", utf8.encode(secret), algorithm, false, ["sign"])
      return hex(new Uint8Array(await subtle.sign("HMAC", key, content)))
    }),
  )
}

function signedContent(body: Uint8Array | string, timestamp: number): Uint8Array<ArrayBuffer> {
  if (typeof body === "string") return utf8.encode(`${timestamp}.${body}`)
  const prefix = utf8.encode(`${timestamp}.`)
  const content = new Uint8Array(prefix.length + body.length)
  content.set(prefix)
  // Copying from a detached buffer throws, though it holds nothing to copy.
  if (body.length > 0) content.set(body, prefix.length)
  return content
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
}

// Node 18 alone has no global `crypto`. The specifier is a variable so that no bundler goes looking for the module.
async function webCrypto(): Promise<typeof crypto.subtle> {
  if (globalThis.crypto !== undefined) return globalThis.crypto.subtle
  const specifier = "node:crypto"
  const { webcrypto } = (await import(/* webpackIgnore: true */ /* @vite-ignore */ specifier)) as {
    webcrypto: typeof crypto
  }
  return webcrypto.subtle
}
