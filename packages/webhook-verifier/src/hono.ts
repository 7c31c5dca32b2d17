import { webhookHandler as fetchHandler } from "./fetch.ts"
import type { HandlerOptions, WebhookHandler } from "./receive.ts"
import type { WebhookVerifier } from "./WebhookVerifier.ts"

export type { HandlerOptions, WebhookHandler } from "./receive.ts"

// Whichever types of Fetch the consumer has are meant: of lib DOM, Node, Bun, Deno or Workers. Without any, these stand in.
declare global {
  interface Request {}
  interface Response {}
}

/** The parts of a Hono context that are read. */
export interface HonoContext {
  readonly req: { readonly raw: Request; readonly bodyCache: { readonly arrayBuffer?: unknown } }
}

/** Creates a handler for a route of Hono; bytes that a middleware has read by `c.req.arrayBuffer()` are taken from there. */
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
