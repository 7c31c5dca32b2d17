import { type NodeHandler, nodeHandler } from "./nodeHandler.ts"
import type { HandlerOptions, WebhookHandler } from "./receive.ts"
import type { WebhookVerifier } from "./WebhookVerifier.ts"

export type { NodeHandler, NodeRequest, NodeResponse } from "./nodeHandler.ts"
export type { HandlerOptions, WebhookHandler } from "./receive.ts"

/** Creates a handler for `createServer` of `node:http` and compatible frameworks. */
export function webhookHandler<Event>(
  verifier: WebhookVerifier<Event>,
  handle: WebhookHandler<Event>,
  options: HandlerOptions = {},
): NodeHandler {
  return nodeHandler(verifier, handle, options, FIX)
}

const FIX = "hand the request over before anything reads it, or keep its bytes as request.rawBody"
