import { webhookHandler as fetchHandler } from "./fetch.ts"
import type { HandlerOptions, WebhookHandler } from "./receive.ts"
import type { WebhookVerifier } from "./WebhookVerifier.ts"

export type { HandlerOptions, WebhookHandler } from "./receive.ts"

// Uses the consumer's Fetch types: lib DOM, Node, Bun, Deno or Workers. These declarations are the fallback.
declare global {
  interface Request {}
  interface Response {}
}

/** The parts of a Hono context that the handler reads. */
export interface HonoContext {
  readonly req: { readonly raw: Request; readonly bodyCache: { readonly arrayBuffer?: unknown } }
}

/** Creates a Hono route handler. Reuses bytes that a middleware read with `c.req.arrayBuffer()`. */
export function webhookHandler<Event>(
  verifier: WebhookVerifier<Event>,
  handle: WebhookHandler<Event>,
  options: HandlerOptions = {},
): (context: HonoContext) => Promise<Response> {
  const answer = fetchHandler(verifier, handle, options)
  return async ({ req: { raw, bodyCache } }) => {
    const kept = (await bodyCache.arrayBuffer) as ArrayBuffer | undefined
    if (kept === undefined) return answer(raw)
    return answer(new Request(raw.url, { method: "POST", headers: raw.headers, body: kept }))
  }
}
