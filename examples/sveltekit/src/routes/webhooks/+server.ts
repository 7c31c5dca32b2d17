import { appendFile } from "node:fs/promises"
import { createWebhookVerifier, type WebhookEvent } from "@outreach/webhook-verifier"
import { deduplicate, memoryStore } from "@outreach/webhook-verifier/deduplicate"
import { webhookHandler } from "@outreach/webhook-verifier/fetch"
import { EVENTS_FILE, WEBHOOK_SECRET } from "$app/env/private"

const verifier = createWebhookVerifier({ secrets: [WEBHOOK_SECRET] })

// A real receiver stores the event in its database and processes it later. With several processes, use `postgresStore`.
const handle = deduplicate(memoryStore(), async (event: WebhookEvent) => {
  await appendFile(EVENTS_FILE, `${JSON.stringify(event)}\n`)
})

// adapter-node accepts 512 KB by default: package.json sets a higher limit than the verifier's.
export const POST = webhookHandler(verifier, handle)
