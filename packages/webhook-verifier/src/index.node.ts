// The main entry for Node, based on node:crypto: several times faster than Web Crypto, and Node 18 has no global `crypto`.
import { verify } from "@outreach/signature/node"
import { verifierWith } from "./verifierWith.ts"
import type { WebhookEvent } from "./WebhookEvent.ts"
import type { WebhookVerifier, WebhookVerifierOptions } from "./WebhookVerifier.ts"

export { WebhookVerificationError } from "./WebhookVerificationError.ts"

/** Same as `createWebhookVerifier` of the main entry. */
export function createWebhookVerifier<Event = WebhookEvent>(
  options: WebhookVerifierOptions<Event>,
): WebhookVerifier<Event> {
  return verifierWith(verify, options)
}
