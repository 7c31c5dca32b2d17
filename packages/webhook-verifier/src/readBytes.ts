import { WebhookVerificationError } from "./WebhookVerificationError.ts"

/** Reads a stream of bytes to its end, refusing it as soon as it is longer than `maxBytes`. */
export async function readBytes(stream: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of stream) {
      size += chunk.length
      if (size > maxBytes) throw new WebhookVerificationError("body_too_large")
      chunks.push(chunk)
    }
    const bytes = new Uint8Array(size)
    let offset = 0
    for (const chunk of chunks) {
      bytes.set(chunk, offset)
      offset += chunk.length
    }
    return bytes
  } catch (error) {
    throw error instanceof WebhookVerificationError ? error : new WebhookVerificationError("broken_body")
  }
}
