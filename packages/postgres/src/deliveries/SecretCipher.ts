import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import { Context, Redacted } from "effect"

const NONCE = 12
const TAG = 16

/** Encrypts signing secrets at rest: AES-256-GCM, stored as nonce, ciphertext, tag, bound to the organization. */
export class SecretCipher extends Context.Service<
  SecretCipher,
  {
    encrypt(secret: Redacted.Redacted, organizationId: string): Uint8Array
    /** Throws when the key is another one or the bytes were altered. */
    decrypt(stored: Uint8Array, organizationId: string): Redacted.Redacted
  }
>()("postgres/SecretCipher") {
  /** A cipher for those who handle no secret's text. It throws when one does. */
  static readonly withoutKey: SecretCipher["Service"] = { encrypt: needKey, decrypt: needKey }

  /** Creates the cipher from a key of 32 bytes. */
  static readonly make = (key: Redacted.Redacted<Uint8Array>): SecretCipher["Service"] => ({
    encrypt: (secret, organizationId) => {
      const nonce = randomBytes(NONCE)
      const cipher = createCipheriv("aes-256-gcm", Redacted.value(key), nonce).setAAD(Buffer.from(organizationId))
      return Buffer.concat([nonce, cipher.update(Redacted.value(secret), "utf8"), cipher.final(), cipher.getAuthTag()])
    },
    decrypt: (stored, organizationId) => {
      const decipher = createDecipheriv("aes-256-gcm", Redacted.value(key), stored.subarray(0, NONCE), {
        authTagLength: TAG,
      })
        .setAAD(Buffer.from(organizationId))
        .setAuthTag(stored.subarray(stored.length - TAG))
      const text = Buffer.concat([decipher.update(stored.subarray(NONCE, stored.length - TAG)), decipher.final()])
      return Redacted.make(text.toString("utf8"))
    },
  })
}

function needKey(): never {
  throw new Error("SECRETS_KEY is needed to encrypt or decrypt a signing secret")
}
