import { ANSWER_HEADERS, type HandlerOptions, MAX_BYTES, readBytes, receive, type WebhookHandler } from "./receive.ts"
import { WebhookVerificationError } from "./WebhookVerificationError.ts"
import type { WebhookVerifier } from "./WebhookVerifier.ts"

export type { HandlerOptions, WebhookHandler } from "./receive.ts"

// Whichever types of Fetch the consumer has are meant: of lib DOM, Node, Bun, Deno or Workers. Without any, these stand in.
declare global {
  interface Request {}
  interface Response {}
}

/**
 * Creates a handler of Fetch requests: a route of Next.js, Remix, SvelteKit or Astro, or the `fetch` of Workers, Deno and Bun.
 *
 * It takes the request itself, or an object that holds it as `request`.
 */
export function webhookHandler<Event>(
  verifier: WebhookVerifier<Event>,
  handle: WebhookHandler<Event>,
  options: HandlerOptions = {},
): (given: Request | { readonly request: Request }) => Promise<Response> {
  return async (given) => {
    const request = "request" in given ? given.request : given
    const verify = async () => {
      if (request.bodyUsed) throw new WebhookVerificationError("body_already_parsed", FIX)
      const stream = request.body as AsyncIterable<Uint8Array> | null
      const body = stream === null ? "" : await readBytes(stream, options.maxBytes ?? MAX_BYTES)
      return verifier.verify({ headers: request.headers, body })
    }
    const { status, body } = await receive(verify, handle, options)
    return new Response(body, { status, headers: ANSWER_HEADERS })
  }
}

const FIX =
  "hand the request over before anything calls json(), text() or formData() on it, or hand over request.clone()"
