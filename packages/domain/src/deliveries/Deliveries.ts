import { Clock, Effect, type Redacted } from "effect"
import { fromUnixMillis } from "../Timestamp.ts"
import type { DeliveryOutcome } from "./classifyResponse.ts"
import type { Attempt, Delivery } from "./Delivery.ts"
import type { Outcome, OwnedEndpoint } from "./DeliveryLeases.ts"
import type { EndpointSettings } from "./Endpoint.ts"
import { type RetryRules, settleAttempt } from "./settleAttempt.ts"
import { Signer, WebhookClient } from "./WebhookClient.ts"

const utf8 = new TextEncoder()

/** Result of one attempt at a delivery, before it is written. */
export interface AttemptResult extends Outcome, Pick<DeliveryOutcome, "verdict" | "reason"> {
  readonly attempt: Attempt & { readonly latencyMs: number }
}

/** Options of an attempt. */
export interface AttemptOptions {
  /**
   * This worker's clock when the delivery was read, in Unix milliseconds: the current time is the database's clock plus the time
   * elapsed since then.
   */
  readonly readAt: number
  /** The endpoint at the start of the call. */
  readonly endpoint: OwnedEndpoint
  readonly schedule: RetryRules["schedule"]
  /** The signing secrets at the start of the call. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

/** Returns monotonic milliseconds. */
export const monotonicMs = (clock: Clock.Clock): number => Math.floor(Number(clock.monotonicTimeNanosUnsafe()) / 1e6)

/** Makes one attempt at a delivery: signs, posts, and returns the result with the next step. */
export const deliveryAttempts = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const client = yield* WebhookClient
  const signer = yield* Signer

  return (delivery: Delivery, { readAt, endpoint, schedule, secrets }: AttemptOptions): Effect.Effect<AttemptResult> =>
    Effect.suspend(() => {
      const now = () => delivery.readAt + (monotonicMs(clock) - readAt)
      const started = now()
      const body = utf8.encode(delivery.body)
      const headers = webhookHeaders(signer, delivery, { body, secrets, at: started, endpoint })
      return Effect.map(client.post(endpoint, headers, body), (reply) => {
        const finished = now()
        const { verdict, reason, settlement } = settleAttempt(reply, delivery.attempt, { ...endpoint, schedule })
        return {
          delivery,
          version: endpoint.version,
          attempt: {
            number: delivery.attempt,
            startedAt: fromUnixMillis(started),
            latencyMs: finished - started,
            status: "status" in reply ? reply.status : null,
            outcome: reason,
            response: reply.response ?? null,
          },
          settlement,
          verdict,
          reason,
        }
      })
    })
})

interface Signing extends Pick<AttemptOptions, "secrets"> {
  readonly endpoint: EndpointSettings
  readonly body: Uint8Array
  /** Unix milliseconds. */
  readonly at: number
}

/** Creates the headers of one webhook attempt, with a new signature. */
export const webhookHeaders = (
  signer: Signer["Service"],
  { id, eventId, attempt }: Pick<Delivery, "id" | "eventId" | "attempt">,
  { body, secrets, at, endpoint }: Signing,
): Readonly<Record<string, string>> => {
  const timestamp = Math.floor(at / 1000)
  const headers = {
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
