import { type NodeHandler, nodeHandler } from "./nodeHandler.ts"
import type { HandlerOptions, WebhookHandler } from "./receive.ts"
import type { WebhookVerifier } from "./WebhookVerifier.ts"

export type { NodeHandler, NodeRequest, NodeResponse } from "./nodeHandler.ts"
export type { HandlerOptions, WebhookHandler } from "./receive.ts"

/** Creates a route handler for Express 4 or 5. It reads the body itself, or uses the body that `express.raw()` has read. */
export function webhookHandler<Event>(
  verifier: WebhookVerifier<Event>,
  handle: WebhookHandler<Event>,
  options: HandlerOptions = {},
): NodeHandler {
  return nodeHandler(verifier, handle, options, FIX)
}

const FIX =
  "put this route before app.use(express.json()), or keep the bytes by express.json({ verify: (request, _, bytes) => { request.rawBody = bytes } })"
