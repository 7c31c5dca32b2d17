// The main entry for Node, based on node:crypto: several times faster than Web Crypto, and Node 18 has no global `crypto`.
import { verify } from "@outreach/signature/node"
import type * as main from "./index.ts"
import { verifierWith } from "./verifierWith.ts"

export { WebhookVerificationError } from "./WebhookVerificationError.ts"

export const createWebhookVerifier: typeof main.createWebhookVerifier = (options) => verifierWith(verify, options)
