import type { Redacted } from "effect"
import type { DeliveryId } from "../Identifier.ts"
import type { Signer } from "./Signer.ts"

/** Writes the headers of one attempt at a webhook, signed afresh. */
export const webhookHeaders = (
  signer: Signer["Service"],
  body: Uint8Array,
  attempt: {
    readonly id: DeliveryId
    readonly attempt: number
    readonly secrets: ReadonlyArray<Redacted.Redacted>
    /** In Unix milliseconds. */
    readonly at: number
  },
) => ({
  "Content-Type": "application/json",
  "X-Signature": signer.sign(body, attempt.secrets, Math.floor(attempt.at / 1000)),
  "X-Delivery-Id": attempt.id,
  "X-Delivery-Attempt": String(attempt.attempt),
})
