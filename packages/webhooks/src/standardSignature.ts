import { createHmac } from "node:crypto"

/**
 * Signs a body with every secret, for the `webhook-signature` header of Standard Webhooks.
 *
 * The key is the part after `whsec_`, decoded from base64 or base64url with or without padding: docs/decisions/0009-one-signing-secret-has-two-hmac-keys.md.
 * Source: the specification of Standard Webhooks 1.0.0, "Signature scheme" and "Webhook headers".
 */
export const standardSignature = (
  body: Uint8Array,
  secrets: ReadonlyArray<string>,
  message: {
    readonly eventId: string
    /** Unix seconds. */
    readonly timestamp: number
  },
): string =>
  secrets
    .map((secret) => {
      const hmac = createHmac("sha256", keyOf(secret)).update(`${message.eventId}.${message.timestamp}.`)
      return `v1,${hmac.update(body).digest("base64")}`
    })
    .join(" ")

// Node accepts both alphabets under this name, without padding.
const keyOf = (secret: string): Uint8Array => Buffer.from(secret.replace(/^whsec_/, ""), "base64")
