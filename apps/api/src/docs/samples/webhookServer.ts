import { createServer, type Server } from "node:http"
import { createWebhookVerifier, type WebhookEvent } from "@outreach/webhook-verifier"
import { webhookHandler } from "@outreach/webhook-verifier/node"

/** Receives webhooks: verifies the raw bytes, stores, acknowledges. What `store` keeps is worked on later. */
export function webhookServer(secrets: string[], store: (event: WebhookEvent) => Promise<void>): Server {
  const webhooks = createWebhookVerifier({ secrets })
  // insert … on conflict (event_id) do nothing. What is not stored is not acknowledged: it will come again.
  return createServer(webhookHandler(webhooks, store))
}
