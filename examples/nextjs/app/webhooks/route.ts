import { appendFile } from "node:fs/promises"
import { createWebhookVerifier, type WebhookEvent } from "@outreach/webhook-verifier"
import { deduplicate, memoryStore } from "@outreach/webhook-verifier/deduplicate"
import { webhookHandler } from "@outreach/webhook-verifier/fetch"

// A real receiver stores the event in its database and processes it later. With several processes, use `postgresStore`.
const handle = deduplicate(memoryStore(), async (event: WebhookEvent) => {
  await appendFile(process.env.EVENTS_FILE ?? "events.jsonl", `${JSON.stringify(event)}\n`)
})

let receive: ((request: Request) => Promise<Response>) | undefined

export function POST(request: Request): Promise<Response> {
  // Created here because `next build` loads this file without the secret.
  receive ??= webhookHandler(createWebhookVerifier({ secrets: [process.env.WEBHOOK_SECRET ?? ""] }), handle)
  return receive(request)
}
