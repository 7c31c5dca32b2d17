// The same entry for Node, on node:crypto: several times as fast as Web Crypto, and Node 18 has no global `crypto`.
import { verify } from "@outreach/signature/node"
import { verifierWith } from "./verifierWith.ts"
import type { WebhookEvent } from "./WebhookEvent.ts"
import type { WebhookVerifier, WebhookVerifierOptions } from "./WebhookVerifier.ts"

export { WebhookVerificationError } from "./WebhookVerificationError.ts"

/** Creates a verifier as the main entry's `createWebhookVerifier` does. */
export function createWebhookVerifier<Event = WebhookEvent>(
  options: WebhookVerifierOptions<Event>,
): WebhookVerifier<Event> {
  return verifierWith(verify, options)
}
