import { describe, expect, it } from "@effect/vitest"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { Redacted } from "effect"

const cipherOf = (byte: number) => SecretCipher.make(Redacted.make(Buffer.alloc(32, byte)))
const cipher = cipherOf(7)
const secret = Redacted.make("whsec_ÄÖÜ-and-some-base64url_characters")

describe("SecretCipher", () => {
  it("gives a secret back to its own organization", () => {
    expect(Redacted.value(cipher.decrypt(cipher.encrypt(secret, "org_a"), "org_a"))).toBe(Redacted.value(secret))
  })

  it("never writes the same bytes twice, and never the secret", () => {
    const [first, second] = [cipher.encrypt(secret, "org_a"), cipher.encrypt(secret, "org_a")]
    expect(first).not.toEqual(second)
    expect(Buffer.from(first).includes(Redacted.value(secret))).toBe(false)
  })

  it("refuses bytes of which any was altered", () => {
    const stored = cipher.encrypt(secret, "org_a")
    for (let i = 0; i < stored.length; i++) {
      const altered = Uint8Array.from(stored, (byte, at) => (at === i ? byte ^ 1 : byte))
      expect(() => cipher.decrypt(altered, "org_a"), `byte ${i}`).toThrow()
    }
  })

  it("refuses bytes that were cut short or lengthened", () => {
    const stored = cipher.encrypt(secret, "org_a")
    for (let length = 0; length < stored.length; length++) {
      expect(() => cipher.decrypt(stored.subarray(0, length), "org_a"), `${length} bytes`).toThrow()
    }
    expect(() => cipher.decrypt(Buffer.concat([stored, Buffer.alloc(1)]), "org_a")).toThrow()
  })

  it("refuses another organization's bytes, and another key", () => {
    const stored = cipher.encrypt(secret, "org_a")
    expect(() => cipher.decrypt(stored, "org_b")).toThrow()
    expect(() => cipherOf(8).decrypt(stored, "org_a")).toThrow()
  })

  it("handles no secret without a key, and names the setting that holds it", () => {
    const { encrypt, decrypt } = SecretCipher.withoutKey
    expect(() => encrypt(secret, "org_a")).toThrow("SECRETS_KEY")
    expect(() => decrypt(cipher.encrypt(secret, "org_a"), "org_a")).toThrow("SECRETS_KEY")
  })
})
