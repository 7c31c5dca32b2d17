// One file for whatever serves Fetch: Deno, Bun and workers.
import { createWebhookVerifier, WebhookVerificationError } from "@outreach/webhook-verifier"
import { webhookHandler } from "@outreach/webhook-verifier/fetch"
import { sampleEvent, signWebhook } from "@outreach/webhook-verifier/testing"
import data from "./data.mjs"
import { checkVectors } from "./vectors.mjs"

const { signed } = data
const verifier = createWebhookVerifier({ secrets: [signed.secret], now: () => signed.timestamp })
const receive = webhookHandler(verifier, () => {})

/** Takes a webhook by POST, and answers how many vectors hold by GET. */
async function fetchHandler(request) {
  if (request.method === "POST") return receive(request)
  const exports = { createWebhookVerifier, WebhookVerificationError, sampleEvent, signWebhook }
  return new Response(String(await checkVectors(exports, webhookHandler, data)))
}

export default { fetch: fetchHandler }
