import type { Next, Policy } from "@outreach/retry-policy"
import { Clock, Effect, type Redacted } from "effect"
import { fromUnixMillis } from "../Timestamp.ts"
import { classifyResponse, type DeliveryOutcome } from "./classifyResponse.ts"
import type { Attempt, Delivery } from "./Delivery.ts"
import type { Outcome, OwnedEndpoint, Settlement } from "./DeliveryLeases.ts"
import { Signer, WebhookClient } from "./WebhookClient.ts"

const utf8 = new TextEncoder()

/** How long a delivery waits when its host's name had no turn to be resolved. That was no attempt, so it does not count as one. */
const NOT_ASKED_DELAY_SECONDS = 30

/** The result of one attempt at a delivery, before it is written. */
export interface AttemptResult extends Outcome, Pick<DeliveryOutcome, "verdict" | "reason"> {
  readonly attempt: Attempt & { readonly latencyMs: number }
}

/** What an attempt takes from the worker that makes it. */
export interface AttemptOptions {
  /**
   * This worker's clock when the delivery was read, in Unix milliseconds: time is the database's clock, as far as it has gone on
   * since then.
   */
  readonly readAt: number
  /** The endpoint as it is when the call begins. */
  readonly endpoint: Pick<OwnedEndpoint, "version" | "url" | "standardWebhooks">
  /** The secrets that sign when the call begins. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

/** Returns the milliseconds of a clock that nobody can set. */
export const monotonicMs = (clock: Clock.Clock): number => Math.floor(Number(clock.monotonicTimeNanosUnsafe()) / 1e6)

/** Creates the function that makes one attempt at a delivery: signs afresh, posts, and says what follows. */
export const deliveryAttempts = Effect.fnUntraced(function* (policy: Policy) {
  const clock = yield* Clock.Clock
  const client = yield* WebhookClient
  const signer = yield* Signer

  return (delivery: Delivery, { readAt, endpoint, secrets }: AttemptOptions): Effect.Effect<AttemptResult> =>
    Effect.suspend(() => {
      const now = () => delivery.readAt + (monotonicMs(clock) - readAt)
      const started = now()
      const body = utf8.encode(delivery.body)
      const { version, url, standardWebhooks } = endpoint
      const headers = webhookHeaders(signer, delivery, { body, secrets, at: started, standardWebhooks })
      return Effect.map(client.post({ organizationId: delivery.organizationId, url }, headers, body), (reply) => {
        const finished = now()
        const { verdict, reason } = classifyResponse(reply)
        return {
          delivery,
          version,
          attempt: {
            number: delivery.attempt,
            startedAt: fromUnixMillis(started),
            latencyMs: finished - started,
            status: "status" in reply ? reply.status : null,
            outcome: reason,
            response: reply.response ?? null,
          },
          settlement:
            reason === "name_not_asked"
              ? { state: "retry", delaySeconds: NOT_ASKED_DELAY_SECONDS }
              : toSettlement(policy.next({ attempt: delivery.attempt, outcome: { verdict } })),
          verdict,
          reason,
        }
      })
    })
})

const toSettlement = (next: Next): Settlement => {
  // The delay alone: the database adds it to its own clock.
  if (next.retry) return { state: "retry", delaySeconds: next.delay / 1000 }
  if (next.because === "success") return { state: "delivered" }
  return { state: next.because === "permanent" ? "rejected" : "exhausted" }
}

interface Signing extends Pick<AttemptOptions, "secrets">, Pick<OwnedEndpoint, "standardWebhooks"> {
  readonly body: Uint8Array
  /** In Unix milliseconds. */
  readonly at: number
}

/** Writes the headers of one attempt at a webhook, signed afresh. */
export const webhookHeaders = (
  signer: Signer["Service"],
  { id, eventId, attempt }: Pick<Delivery, "id" | "eventId" | "attempt">,
  { body, secrets, at, standardWebhooks }: Signing,
): Readonly<Record<string, string>> => {
  const timestamp = Math.floor(at / 1000)
  const headers = {
    "Content-Type": "application/json",
    "X-Signature": signer.sign(body, secrets, timestamp),
    "X-Delivery-Id": id,
    "X-Delivery-Attempt": String(attempt),
  }
  if (!standardWebhooks) return headers
  return {
    ...headers,
    "webhook-id": eventId,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signer.signStandard(body, secrets, { eventId, timestamp }),
  }
}
