import { createCipheriv, createDecipheriv } from "node:crypto"
import { describe, expect, it } from "@effect/vitest"
import { type RingKey, singleKey } from "@outreach/domain/KeyRing"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { Redacted } from "effect"

const keyOf = (byte: number) => Redacted.make(Buffer.alloc(32, byte))
const cipherOf = (byte: number) => SecretCipher.make(singleKey(keyOf(byte)))
const cipher = cipherOf(7)
const [k1] = singleKey(keyOf(7))
const k2: RingKey = { id: "k2", mark: 2, key: keyOf(8) }
const k3: RingKey = { id: "k3", mark: 3, key: keyOf(9) }
const ring = SecretCipher.make([k2, k1])
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

  it.each([
    ["", cipher],
    [", the mark of the key included", SecretCipher.make([k2, { ...k2, id: "k4", mark: 3 }, k1])],
  ])("refuses bytes of which any was altered%s", (_, cipher) => {
    const stored = cipher.encrypt(secret, "org_a")
    for (let i = 0; i < stored.length; i++) {
      const altered = Uint8Array.from(stored, (byte, at) => (at === i ? byte ^ 1 : byte))
      expect(() => cipher.decrypt(altered, "org_a"), `byte ${i}`).toThrow()
    }
  })

  it.each([
    ["", cipher],
    [" under a key with a mark", ring],
  ])("refuses bytes that were cut short or lengthened%s", (_, cipher) => {
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

  it("decrypts what the release before rings encrypted", () => {
    // Encrypted by that release with 32 bytes of 7.
    const stored = Buffer.from("qjFlX24br6HF1hKsQ1uQfJJ4eV1o5QIRRKBn6dNN5QddBja0n1IJpAz3MXd1bxQCqdcJ", "base64")
    for (const each of [cipher, ring, SecretCipher.make([k3, { ...k1, id: "old", mark: 1 }])]) {
      expect(Redacted.value(each.decrypt(stored, "org_a"))).toBe("whsec_made-before-rings")
    }
    expect(() => SecretCipher.make([k3, k2]).decrypt(stored, "org_a")).toThrow("SECRETS_KEY does not open a secret")
  })

  it("encrypts with a single key as the release before rings did: nonce, ciphertext, tag", () => {
    const stored = cipher.encrypt(secret, "org_a")
    const decipher = createDecipheriv("aes-256-gcm", Buffer.alloc(32, 7), stored.subarray(0, 12))
      .setAAD(Buffer.from("org_a"))
      .setAuthTag(stored.subarray(-16))
    const text = Buffer.concat([decipher.update(stored.subarray(12, -16)), decipher.final()])
    expect(text.toString()).toBe(Redacted.value(secret))
  })

  it("encrypts with the newest key of a ring, and decrypts with each", () => {
    const made = [k1, k2, k3].map((key) => SecretCipher.make([key]).encrypt(secret, "org_a"))
    const all = SecretCipher.make([k3, k2, k1])
    expect(all.keyIds).toEqual(["k3", "k2", "k1"])
    expect(made.map((stored) => all.keyIdOf(stored, "org_a"))).toEqual(["k1", "k2", "k3"])
    for (const stored of made) expect(Redacted.value(all.decrypt(stored, "org_a"))).toBe(Redacted.value(secret))
    expect(all.keyIdOf(all.encrypt(secret, "org_a"), "org_a")).toBe("k3")
    expect(made.map((stored) => ring.keyIdOf(stored, "org_a"))).toEqual(["k1", "k2", undefined])
    expect(() => ring.decrypt(made[2]!, "org_a")).toThrow("SECRETS_KEY does not open a secret")
    expect(all.keyIdOf(made[2]!, "org_b")).toBeUndefined()
  })

  it("decrypts with a key of another id, and with one of two keys that share a mark", () => {
    const stored = SecretCipher.make([k2]).encrypt(secret, "org_a")
    expect(SecretCipher.make([k3, { ...k2, id: "renamed" }]).keyIdOf(stored, "org_a")).toBe("renamed")
    expect(SecretCipher.make([{ ...k2, id: "k1", mark: undefined }]).keyIdOf(stored, "org_a")).toBe("k1")
    expect(SecretCipher.make([{ ...k3, mark: 2 }, k2]).keyIdOf(stored, "org_a")).toBe("k2")
  })

  it("decrypts a ciphertext without a mark whose nonce looks like one", () => {
    const nonce = Buffer.from("ring\u0002 nonce!!".slice(0, 12))
    const encrypting = createCipheriv("aes-256-gcm", Buffer.alloc(32, 7), nonce).setAAD(Buffer.from("org_a"))
    const text = Buffer.concat([encrypting.update("whsec_x"), encrypting.final()])
    const stored = Buffer.concat([nonce, text, encrypting.getAuthTag()])
    for (const each of [cipher, ring]) expect(Redacted.value(each.decrypt(stored, "org_a"))).toBe("whsec_x")
  })

  it("handles no secret without a key, and names the setting that holds it", () => {
    const { encrypt, decrypt } = SecretCipher.withoutKey
    expect(() => encrypt(secret, "org_a")).toThrow("SECRETS_KEY")
    expect(() => decrypt(cipher.encrypt(secret, "org_a"), "org_a")).toThrow("SECRETS_KEY")
  })
})
