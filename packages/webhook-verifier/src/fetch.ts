import {
  type HandlerOptions,
  MAX_BYTES,
  RESPONSE_HEADERS,
  readBytes,
  receiver,
  type WebhookHandler,
} from "./receive.ts"
import { WebhookVerificationError } from "./WebhookVerificationError.ts"
import type { WebhookVerifier } from "./WebhookVerifier.ts"

export type { HandlerOptions, WebhookHandler } from "./receive.ts"

// Uses the consumer's Fetch types: lib DOM, Node, Bun, Deno or Workers. These declarations are the fallback.
declare global {
  interface Request {}
  interface Response {}
}

/**
 * Creates a Fetch handler: a route of Next.js, Remix, SvelteKit or Astro, or the `fetch` of Workers, Deno and Bun.
 *
 * Accepts the request, or an object with a `request` property.
 */
export function webhookHandler<Event>(
  verifier: WebhookVerifier<Event>,
  handle: WebhookHandler<Event>,
  options: HandlerOptions = {},
): (given: Request | { readonly request: Request }) => Promise<Response> {
  const receive = receiver(verifier, handle, options)
  return async (given) => {
    const request = "request" in given ? given.request : given
    const { status, body } = await receive(async (maxBytes) => {
      if (request.bodyUsed) throw new WebhookVerificationError("body_already_parsed", FIX)
      const chunks = request.body === null ? undefined : chunksOf(request.body)
      return { headers: request.headers, body: chunks ? await readBytes(chunks, maxBytes) : "" }
    })
    return new Response(body, { status, headers: RESPONSE_HEADERS })
  }
}

/** Maximum number of bytes read from a rejected body; more than proxies accept by mistake. */
const MAX_DISCARDED = 64 * MAX_BYTES

/**
 * Yields the chunks of a body and drains a rejected one: SvelteKit and React Router reset the connection when a body
 * is cancelled, so the 413 would be lost. An endless body is still cancelled.
 */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  let read = await reader.read()
  try {
    for (; !read.done; read = await reader.read()) yield read.value
  } finally {
    let left = MAX_DISCARDED
    for (; !read.done && left > 0; left -= read.value?.length ?? 0) read = await reader.read()
    if (!read.done) await reader.cancel()
  }
}

const FIX =
  "hand the request over before anything calls json(), text() or formData() on it, or hand over request.clone()"
