/** Receives webhooks with Hono and the signing secret in `WEBHOOK_SECRET`. */
import { serve } from "@hono/node-server"
import { createWebhookVerifier, type WebhookEvent } from "@outreach/webhook-verifier"
import { deduplicate, memoryStore } from "@outreach/webhook-verifier/deduplicate"
import { webhookHandler } from "@outreach/webhook-verifier/hono"
import { Hono } from "hono"

const secret = process.env["WEBHOOK_SECRET"]
if (secret === undefined) throw new Error("WEBHOOK_SECRET is not set")
const port = Number(process.env["PORT"] ?? 3000)

const verifier = createWebhookVerifier({ secrets: [secret] })

// A real receiver stores the event and processes it later. With several processes, use `postgresStore`.
const handle = deduplicate(memoryStore(), (event: WebhookEvent) => {
  console.log(event.event_type, event.event_id)
})

const app = new Hono()
app.post("/webhooks", webhookHandler(verifier, handle))

serve({ fetch: app.fetch, port }, (address) => console.log("listening on", address))
