/** Receives webhooks with Fastify and the signing secret in `WEBHOOK_SECRET`. */
import { createWebhookVerifier, type WebhookEvent } from "@outreach/webhook-verifier"
import { deduplicate, memoryStore } from "@outreach/webhook-verifier/deduplicate"
import { webhookPlugin } from "@outreach/webhook-verifier/fastify"
import fastify from "fastify"

const secret = process.env["WEBHOOK_SECRET"]
if (secret === undefined) throw new Error("WEBHOOK_SECRET is not set")
const port = Number(process.env["PORT"] ?? 3000)

const verifier = createWebhookVerifier({ secrets: [secret] })

// A real receiver stores the event and processes it later. With several processes, use `postgresStore`.
const handle = deduplicate(memoryStore(), (event: WebhookEvent) => {
  console.log(event.event_type, event.event_id)
})

const app = fastify()
app.register(webhookPlugin(verifier, handle, { url: "/webhooks" }))

await app.listen({ port })
console.log("listening on", app.server.address())
