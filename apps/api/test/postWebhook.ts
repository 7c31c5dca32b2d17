import { eventExamples } from "@outreach/contract"
import { Redacted } from "effect"
import Stripe from "stripe"
import { type Answer, ask } from "./ask.ts"

/** Returns a partner's event as JSON, with members replaced by `more`. */
export const eventText = (more: object): string =>
  JSON.stringify({ ...eventExamples["clinician.account_created"], ...more })

/** Posts an event signed with Stripe's library, and checks the response against the contract. */
export const postWebhook = async (
  api: { readonly url: string },
  { endpoint, secret }: { readonly endpoint: { readonly id: string }; readonly secret: Redacted.Redacted },
  payload: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<Answer> => {
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret: Redacted.value(secret) })
  const headers = { "Content-Type": "application/json", "X-Signature": signature }
  return ask(api, `/v1/partners/consumer/webhooks/${endpoint.id}`, {
    ...options,
    method: "POST",
    headers,
    body: payload,
  })
}
