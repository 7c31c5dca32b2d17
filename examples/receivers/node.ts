/** Receives webhooks with plain Node and the signing secret in `WEBHOOK_SECRET`. */
import { createServer } from "node:http"
import { createWebhookVerifier, type WebhookEvent } from "@outreach/webhook-verifier"
import { deduplicate, memoryStore } from "@outreach/webhook-verifier/deduplicate"
import { webhookHandler } from "@outreach/webhook-verifier/node"

const secret = process.env["WEBHOOK_SECRET"]
if (secret === undefined) throw new Error("WEBHOOK_SECRET is not set")
const port = Number(process.env["PORT"] ?? 3000)

const verifier = createWebhookVerifier({ secrets: [secret] })

// A real receiver stores the event and processes it later. With several processes, use `postgresStore`.
const handle = deduplicate(memoryStore(), (event: WebhookEvent) => {
  console.log(event.event_type, event.event_id)
})

const receive = webhookHandler(verifier, handle)
const server = createServer((request, response) => {
  if (request.url === "/webhooks") receive(request, response)
  else response.writeHead(404).end()
})

server.listen(port, () => console.log("listening on", server.address()))
