import { Clock, Effect, Redacted } from "effect"
import { monotonicMs } from "../monotonicMs.ts"
import { fromUnixMillis } from "../Timestamp.ts"
import { type CustomHeaders, maskHeaderValues } from "./CustomHeaders.ts"
import type { Delivery } from "./Delivery.ts"
import type { Outcome, OwnedEndpoint } from "./DeliveryLeases.ts"
import { type DeliveryReason, type RetryRules, settleAttempt } from "./settleAttempt.ts"
import { Signer, WebhookClient } from "./WebhookClient.ts"

const utf8 = new TextEncoder()

/** Options of an attempt: the state of its endpoint at the start of the call. */
export interface AttemptOptions extends Pick<RetryRules, "schedule"> {
  readonly endpoint: Pick<OwnedEndpoint, "organizationId" | "version" | "standardWebhooks"> &
    Omit<RetryRules, "schedule"> & { readonly url: string }
  readonly secrets: ReadonlyArray<Redacted.Redacted>
  /** Additional headers of the endpoint. */
  readonly headers: CustomHeaders | null
}

/** A delivery, as far as an attempt needs it. */
type CalledDelivery = Omit<Delivery, "version" | "traceparent" | "losses" | "isReplay" | "emittedAt">

/** Outcome of an attempt. */
export type AttemptResult = Outcome & {
  readonly attempt: { readonly latencyMs: number; readonly outcome: DeliveryReason }
}

/** Makes one attempt at a delivery: signs, posts, and returns the outcome with the delivery's next state. */
export const deliveryAttempts = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const client = yield* WebhookClient
  const signer = yield* Signer

  /** Creates the headers of an attempt, with a new signature. */
  const headersOf = (
    { id, eventId, attempt }: CalledDelivery,
    body: Uint8Array,
    timestamp: number,
    { endpoint, secrets, headers: custom }: AttemptOptions,
  ): Readonly<Record<string, string>> => {
    const headers = {
      ...(custom && Redacted.value(custom)),
      "Content-Type": "application/json",
      "X-Signature": signer.sign(body, secrets, timestamp),
      "X-Delivery-Id": id,
      "X-Delivery-Attempt": String(attempt),
    }
    if (!endpoint.standardWebhooks) return headers
    return {
      ...headers,
      "webhook-id": eventId,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signer.signStandard(body, secrets, { eventId, timestamp }),
    }
  }

  return (delivery: CalledDelivery, options: AttemptOptions): Effect.Effect<AttemptResult> =>
    Effect.suspend(() => {
      const { endpoint, schedule } = options
      const now = () => delivery.databaseAheadMs + monotonicMs(clock)
      const started = now()
      const body = utf8.encode(delivery.body)
      const headers = headersOf(delivery, body, Math.floor(started / 1000), options)
      return Effect.map(client.post(endpoint, headers, body), (reply) => {
        const { reason, ...settlement } = settleAttempt(reply, delivery.attempt, { ...endpoint, schedule })
        const attempt = {
          number: delivery.attempt,
          startedAt: fromUnixMillis(started),
          latencyMs: now() - started,
          status: "status" in reply ? reply.status : null,
          outcome: reason,
          response: reply.response === undefined ? null : maskHeaderValues(reply.response, options.headers),
        }
        return { delivery, version: endpoint.version, attempt, ...settlement }
      })
    })
})
