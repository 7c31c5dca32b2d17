import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto"
import { promisify } from "node:util"
import type { DkimKeyPair } from "@outreach/domain/senders/Sender"
import { textSchema } from "@outreach/domain/textSchema"
import { Effect, Redacted } from "effect"

/** RFC 8301 requires 2048 bits; some name servers can't return longer keys. */
const MODULUS_LENGTH = 2048

const MIN_MODULUS_LENGTH = 1024

/** Creates a DKIM key pair: RSA, because nodemailer supports no other type, and few receivers verify others. */
export const generateDkimKeyPair: Effect.Effect<DkimKeyPair> = Effect.map(
  Effect.promise(() => promisify(generateKeyPair)("rsa", { modulusLength: MODULUS_LENGTH })),
  ({ privateKey }) => toKeyPair(privateKey),
)

/** A key pair by its private key. */
export const DkimKey = textSchema(
  `an RSA key of at least ${MIN_MODULUS_LENGTH} bits, PKCS#8 or PKCS#1, DER in base64 or PEM`,
  (text): DkimKeyPair | undefined => {
    const der = Buffer.from(text.replace(/-----[A-Z ]+-----|\\n|\s/g, ""), "base64")
    const key = readPrivateKey(der, "pkcs8") ?? readPrivateKey(der, "pkcs1")
    if (key?.asymmetricKeyType !== "rsa" || (key.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_MODULUS_LENGTH) {
      return undefined
    }
    return toKeyPair(key)
  },
)

// Explicit, because OpenSSL 3.0 writes PKCS#1 where newer versions write PKCS#8.
const toKeyPair = (key: KeyObject): DkimKeyPair => ({
  publicKey: createPublicKey(key).export({ type: "spki", format: "der" }).toString("base64"),
  privateKey: Redacted.make(key.export({ type: "pkcs8", format: "pem" }).toString(), { label: "DKIM_KEY" }),
})

const readPrivateKey = (key: Buffer, type: "pkcs1" | "pkcs8"): KeyObject | undefined => {
  try {
    return createPrivateKey({ key, format: "der", type })
  } catch {
    return undefined
  }
}
