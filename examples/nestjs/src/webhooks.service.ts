import { appendFile } from "node:fs/promises"
import { Injectable } from "@nestjs/common"
import { createWebhookVerifier, type WebhookEvent } from "@outreach/webhook-verifier"
import { deduplicate, memoryStore } from "@outreach/webhook-verifier/deduplicate"
import { webhookHandler } from "@outreach/webhook-verifier/express"

@Injectable()
export class WebhooksService {
  private readonly verifier = createWebhookVerifier({ secrets: [process.env.WEBHOOK_SECRET ?? ""] })

  // With several processes, use `postgresStore`.
  readonly receive = webhookHandler(
    this.verifier,
    deduplicate(memoryStore(), (event: WebhookEvent) => this.store(event)),
  )

  // A real receiver stores the event in its database and processes it later.
  private async store(event: WebhookEvent): Promise<void> {
    await appendFile(process.env.EVENTS_FILE ?? "events.jsonl", `${JSON.stringify(event)}\n`)
  }
}
