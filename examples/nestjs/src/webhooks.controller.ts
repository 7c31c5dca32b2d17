import { appendFile } from "node:fs/promises"
import { Controller, Post, Req, Res } from "@nestjs/common"
import { createWebhookVerifier, type WebhookEvent } from "@outreach/webhook-verifier"
import { deduplicate, memoryStore } from "@outreach/webhook-verifier/deduplicate"
import { webhookHandler } from "@outreach/webhook-verifier/express"
import type { Request, Response } from "express"

const verifier = createWebhookVerifier({ secrets: [process.env.WEBHOOK_SECRET ?? ""] })

// A real receiver stores the event in its database, and works on it later. `postgresStore` remembers events for several processes.
const handle = deduplicate(memoryStore(), async (event: WebhookEvent) => {
  await appendFile(process.env.EVENTS_FILE ?? "events.jsonl", `${JSON.stringify(event)}\n`)
})

const receive = webhookHandler(verifier, handle)

@Controller("webhooks")
export class WebhooksController {
  @Post()
  async post(@Req() request: Request, @Res() response: Response): Promise<void> {
    await receive(request, response)
  }
}
