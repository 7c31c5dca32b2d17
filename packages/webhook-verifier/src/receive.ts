import { WebhookVerificationError } from "./WebhookVerificationError.ts"
import type { WebhookHeaders, WebhookVerifier } from "./WebhookVerifier.ts"

/** Handles an event. The event is acknowledged when the handler returns, so store it first and process it later. */
export type WebhookHandler<Event> = (event: Event) => unknown

/** Options of every adapter. */
export interface HandlerOptions {
  /** Maximum body size in bytes, at least 65,536 (the largest event). Default 1,048,576. */
  readonly maxBytes?: number | undefined
  /** Called with every rejection and every handler failure. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined
}

export const MAX_BYTES = 1_048_576

/** Size of the service's largest event. */
const MAX_EVENT_BYTES = 65_536

export const RESPONSE_HEADERS = { "content-type": "application/json" } as const

/** Returns the headers of a Node response: without closing, the rest of a rejected body would be parsed as the next request. */
export function nodeHeaders(status: number): { readonly [name: string]: string } {
  return status === 413 ? { ...RESPONSE_HEADERS, connection: "close" } : RESPONSE_HEADERS
}

/** Reads the headers and the raw body of a request; may stop after `maxBytes`. */
export type ReadRequest = (maxBytes: number) => RawRequest | Promise<RawRequest>

interface RawRequest {
  readonly headers: WebhookHeaders
  readonly body: Uint8Array | string
}

/**
 * Creates the common part of all adapters: reads a request, verifies it, handles its event and returns the response: 200 after
 * handling, the rejection's status, or 500 if the handler fails (whatever status its error has, because a 4xx isn't retried).
 *
 * Throws `invalid_options` unless `maxBytes` is a whole number of at least 65,536.
 */
export function receiver<Event>(
  verifier: WebhookVerifier<Event>,
  handle: WebhookHandler<Event>,
  options: HandlerOptions,
): (read: ReadRequest) => Promise<{ readonly status: number; readonly body: string }> {
  const { onError = console.error } = options
  const maxBytes = options.maxBytes ?? MAX_BYTES
  if (!Number.isSafeInteger(maxBytes) || maxBytes < MAX_EVENT_BYTES) {
    throw new WebhookVerificationError(
      "invalid_options",
      `maxBytes must be a whole number from ${MAX_EVENT_BYTES} on, the largest event, or left out`,
    )
  }
  const verify = async (read: ReadRequest): Promise<Event> => {
    const request = await read(maxBytes)
    if (request.body.length > maxBytes) throw new WebhookVerificationError("body_too_large")
    return verifier.verify(request)
  }
  return async (read) => {
    let failure = { status: 500, body: '{"error":"handler_failed"}' }
    try {
      const event = await verify(read).catch((error: unknown) => {
        if (error instanceof WebhookVerificationError) {
          failure = { status: error.status, body: JSON.stringify({ error: error.code }) }
        }
        throw error
      })
      await handle(event)
      return { status: 200, body: '{"received":true}' }
    } catch (error) {
      try {
        onError(error)
      } catch {
        // A failing log doesn't affect the response.
      }
      return failure
    }
  }
}

/** Reads a byte stream. Rejects as soon as it exceeds `maxBytes`. */
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
