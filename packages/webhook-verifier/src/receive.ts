import { WebhookVerificationError } from "./WebhookVerificationError.ts"
import type { WebhookHeaders, WebhookVerifier } from "./WebhookVerifier.ts"

/** What to do with an event; once it returns, the event is acknowledged, so store first and work later. */
export type WebhookHandler<Event> = (event: Event) => unknown

/** What an adapter can be told. */
export interface HandlerOptions {
  /** The largest body that is taken, in bytes: 65,536, which is the largest event, or more. Default 1,048,576. */
  readonly maxBytes?: number | undefined
  /** Is called with every rejection and every failure of the handler. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined
}

export const MAX_BYTES = 1_048_576

/** The size of the service's largest event. */
const MAX_EVENT_BYTES = 65_536

export const RESPONSE_HEADERS = { "content-type": "application/json" } as const

/** Returns the headers of a response by Node: a body that was refused half read would be taken for the next request. */
export function nodeHeaders(status: number): { readonly [name: string]: string } {
  return status === 413 ? { ...RESPONSE_HEADERS, connection: "close" } : RESPONSE_HEADERS
}

/** Reads the headers and the raw body of a request, of which no more than `maxBytes` have to be read. */
export type ReadRequest = (maxBytes: number) => RawRequest | Promise<RawRequest>

interface RawRequest {
  readonly headers: WebhookHeaders
  readonly body: Uint8Array | string
}

/**
 * Creates the part that all adapters share: it reads a request, verifies it, handles its event and returns the response, which is 200 once
 * handled, the rejection's own status, and 500 when the handler fails, whatever status its error carries, because a 4xx would be permanent.
 *
 * Throws `invalid_options` when `maxBytes` is not a whole number, or would lose events.
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
        // A log that fails changes nothing for the sender.
      }
      return failure
    }
  }
}

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
