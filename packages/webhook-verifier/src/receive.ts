import { WebhookVerificationError } from "./WebhookVerificationError.ts"

/** What to do with an event; once it returns, the event is acknowledged, so store first and work later. */
export type WebhookHandler<Event> = (event: Event) => unknown

/** What an adapter can be told. */
export interface HandlerOptions {
  /** The largest body that is taken, in bytes: 65,536, which is the largest event, or more. Default 1,048,576. */
  readonly maxBytes?: number | undefined
  /** Is called with every rejection and every failure of the handler. Default: `console.error`. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** The default of `maxBytes`. */
export const MAX_BYTES = 1_048_576

/** The size of the service's largest event. */
const MAX_EVENT_BYTES = 65_536

/** Returns the limit of a body in bytes; throws `invalid_options` when it is not a whole number, or would lose events. */
export function readMaxBytes({ maxBytes }: HandlerOptions): number {
  const limit = maxBytes ?? MAX_BYTES
  if (Number.isSafeInteger(limit) && limit >= MAX_EVENT_BYTES) return limit
  throw new WebhookVerificationError(
    "invalid_options",
    `maxBytes must be a whole number from ${MAX_EVENT_BYTES} on, the largest event, or left out`,
  )
}

/** What an adapter sends back. */
export interface Answer {
  readonly status: number
  readonly body: string
}

/** The headers of every answer. */
export const ANSWER_HEADERS = { "content-type": "application/json" } as const

/**
 * Verifies, handles, and returns the response: 200 once handled, the rejection's own status, and 500 when the handler fails, whatever
 * status its error carries, because a 4xx would be permanent.
 */
export async function receive<Event>(
  verify: () => Promise<Event>,
  handle: WebhookHandler<Event>,
  { onError = console.error }: HandlerOptions,
): Promise<Answer> {
  let answer: Answer = { status: 500, body: '{"error":"handler_failed"}' }
  try {
    const event = await verify().catch((error: unknown) => {
      if (error instanceof WebhookVerificationError) {
        answer = { status: error.status, body: JSON.stringify({ error: error.code }) }
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
    return answer
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
