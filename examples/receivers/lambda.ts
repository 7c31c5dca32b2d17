/** Receives webhooks with AWS Lambda, by a function URL, an API Gateway or a load balancer. Its environment contains `WEBHOOK_SECRET`. */
import { createWebhookVerifier, type WebhookEvent } from "@outreach/webhook-verifier"
import { webhookHandler } from "@outreach/webhook-verifier/lambda"

const secret = process.env["WEBHOOK_SECRET"]
if (secret === undefined) throw new Error("WEBHOOK_SECRET is not set")

const verifier = createWebhookVerifier({ secrets: [secret] })

// A real receiver stores the event under its `event_id`, because the same event can arrive several times, and processes it later.
export const handler = webhookHandler(verifier, (event: WebhookEvent) => {
  console.log(event.event_type, event.event_id)
})
