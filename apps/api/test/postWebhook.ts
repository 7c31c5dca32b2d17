import { eventExamples } from "@outreach/contract"
import { Redacted } from "effect"
import Stripe from "stripe"
import { type Answer, checkAnswer } from "./ask.ts"

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
  const path = `/v1/partners/consumer/webhooks/${endpoint.id}`
  const response = await fetch(api.url + path, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "X-Signature": Stripe.webhooks.generateTestHeaderString({ payload, secret: Redacted.value(secret) }),
    },
    body: payload,
    ...options,
  })
  const answer = { status: response.status, headers: response.headers, body: await response.json() }
  checkAnswer(answer, "POST", path)
  return answer
}
