import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from "node:crypto"
import { DescribedError } from "@outreach/domain/DescribedError"
import type { KeyRing, RingKey } from "@outreach/domain/KeyRing"
import { Context, Redacted } from "effect"

const NONCE = 12
const TAG = 16

/** None of the keys in `SECRETS_KEY` decrypts a ciphertext. */
export class SecretUnopened extends DescribedError(
  "SecretUnopened",
  () =>
    "SECRETS_KEY does not decrypt a stored secret; set it to the key that encrypted it, or check that DATABASE_URL points to the right database.",
) {}

/**
 * Encrypts secrets at rest with AES-256-GCM. Stored as key id, nonce, ciphertext and tag, and bound to the organization.
 *
 * Encrypts with the newest key of the ring, and decrypts with all of them.
 */
export class SecretCipher extends Context.Service<
  SecretCipher,
  {
    /** The ids of the keys, newest first. */
    readonly keyIds: ReadonlyArray<string>
    encrypt(secret: Redacted.Redacted, organizationId: string): Uint8Array
    /** Throws if none of the keys decrypts the ciphertext, for example because its bytes were changed. */
    decrypt(stored: Uint8Array, organizationId: string): Redacted.Redacted
    /** Returns the id of the key that decrypts a ciphertext; undefined if there is none. */
    keyIdOf(stored: Uint8Array, organizationId: string): string | undefined
  }
>()("postgres/SecretCipher") {
  /** Creates a cipher that fails when it is used. */
  static readonly failing = (error: unknown): SecretCipher["Service"] => {
    const fail = (): never => {
      throw error
    }
    return { keyIds: [], encrypt: fail, decrypt: fail, keyIdOf: fail }
  }

  /** Creates the cipher from 32-byte keys. */
  static readonly make = (ring: KeyRing): SecretCipher["Service"] => {
    const [newest, ...older] = ring
    const encrypting = prepare(newest)
    const keys = [encrypting, ...older.map(prepare)]

    const open = (stored: Uint8Array, organizationId: string) => {
      for (const { id, mark, secretKey } of keys) {
        const text = mark === stored[0] ? tryDecrypt(secretKey, stored, organizationId) : undefined
        if (text !== undefined) return { keyId: id, text }
      }
      return undefined
    }

    return {
      keyIds: keys.map(({ id }) => id),
      encrypt: (secret, organizationId) => {
        const { secretKey, mark } = encrypting
        const nonce = randomBytes(NONCE)
        const cipher = createCipheriv("aes-256-gcm", secretKey, nonce).setAAD(associatedData(mark, organizationId))
        const text = cipher.update(Redacted.value(secret), "utf8")
        return Buffer.concat([Buffer.of(mark), nonce, text, cipher.final(), cipher.getAuthTag()])
      },
      decrypt: (stored, organizationId) => {
        const opened = open(stored, organizationId)
        if (opened === undefined) throw new SecretUnopened()
        return Redacted.make(opened.text)
      },
      keyIdOf: (stored, organizationId) => open(stored, organizationId)?.keyId,
    }
  }
}

const prepare = ({ id, mark, key }: RingKey) => ({ id, mark, secretKey: createSecretKey(Redacted.value(key)) })

const associatedData = (mark: number, organizationId: string) =>
  Buffer.concat([Buffer.of(mark), Buffer.from(organizationId)])

const tryDecrypt = (key: KeyObject, stored: Uint8Array, organizationId: string): string | undefined => {
  const sealed = stored.subarray(1)
  if (sealed.length < NONCE + TAG) return undefined
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE), { authTagLength: TAG })
      .setAAD(associatedData(stored[0]!, organizationId))
      .setAuthTag(sealed.subarray(sealed.length - TAG))
    const text = decipher.update(sealed.subarray(NONCE, sealed.length - TAG))
    return Buffer.concat([text, decipher.final()]).toString("utf8")
  } catch {
    return undefined
  }
}
