import { createServer, type Server } from "node:http"
import { createWebhookVerifier, type WebhookEvent } from "@outreach/webhook-verifier"
import { webhookHandler } from "@outreach/webhook-verifier/node"

/** Receives webhooks: verifies the raw bytes, stores the event, acknowledges it. Process stored events later. */
export function webhookServer(secrets: string[], store: (event: WebhookEvent) => Promise<void>): Server {
  const webhooks = createWebhookVerifier({ secrets })
  // insert … on conflict (event_id) do nothing. If storing fails, the event isn't acknowledged and is sent again.
  return createServer(webhookHandler(webhooks, store))
}
