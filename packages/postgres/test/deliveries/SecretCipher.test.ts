import { createDecipheriv } from "node:crypto"
import { describe, expect, it } from "@effect/vitest"
import type { RingKey } from "@outreach/domain/KeyRing"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { singleKey } from "@outreach/process/keyRing"
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
  it("decrypts a secret for its organization", () => {
    expect(Redacted.value(cipher.decrypt(cipher.encrypt(secret, "org_a"), "org_a"))).toBe(Redacted.value(secret))
  })

  it("never returns the same bytes twice, and never the plaintext", () => {
    const [first, second] = [cipher.encrypt(secret, "org_a"), cipher.encrypt(secret, "org_a")]
    expect(first).not.toEqual(second)
    expect(Buffer.from(first).includes(Redacted.value(secret))).toBe(false)
  })

  it.each([
    ["", cipher],
    [" though another key has the altered mark", SecretCipher.make([k2, { ...k2, id: "k4", mark: 3 }, k1])],
  ])("rejects altered bytes%s", (_, cipher) => {
    const stored = cipher.encrypt(secret, "org_a")
    for (let i = 0; i < stored.length; i++) {
      const altered = Uint8Array.from(stored, (byte, at) => (at === i ? byte ^ 1 : byte))
      expect(() => cipher.decrypt(altered, "org_a"), `byte ${i}`).toThrow()
    }
  })

  it.each([
    ["", cipher],
    [" with an additional older key", ring],
  ])("rejects truncated or extended bytes%s", (_, cipher) => {
    const stored = cipher.encrypt(secret, "org_a")
    for (let length = 0; length < stored.length; length++) {
      expect(() => cipher.decrypt(stored.subarray(0, length), "org_a"), `${length} bytes`).toThrow()
    }
    expect(() => cipher.decrypt(Buffer.concat([stored, Buffer.alloc(1)]), "org_a")).toThrow()
  })

  it("rejects bytes of a different organization or key", () => {
    const stored = cipher.encrypt(secret, "org_a")
    expect(() => cipher.decrypt(stored, "org_b")).toThrow()
    expect(() => cipherOf(8).decrypt(stored, "org_a")).toThrow()
  })

  it("returns the key id, the nonce, the ciphertext and the tag", () => {
    const stored = cipher.encrypt(secret, "org_a")
    expect(stored[0]).toBe(k1.mark)
    const decipher = createDecipheriv("aes-256-gcm", Buffer.alloc(32, 7), stored.subarray(1, 13))
      .setAAD(Buffer.concat([stored.subarray(0, 1), Buffer.from("org_a")]))
      .setAuthTag(stored.subarray(-16))
    const text = Buffer.concat([decipher.update(stored.subarray(13, -16)), decipher.final()])
    expect(text.toString()).toBe(Redacted.value(secret))
  })

  it("encrypts with the newest key of a ring, and decrypts with each of them", () => {
    const made = [k1, k2, k3].map((key) => SecretCipher.make([key]).encrypt(secret, "org_a"))
    const all = SecretCipher.make([k3, k2, k1])
    expect(all.keyIds).toEqual(["k3", "k2", "k1"])
    expect(made.map((stored) => all.keyIdOf(stored, "org_a"))).toEqual(["k1", "k2", "k3"])
    for (const stored of made) expect(Redacted.value(all.decrypt(stored, "org_a"))).toBe(Redacted.value(secret))
    expect(all.keyIdOf(all.encrypt(secret, "org_a"), "org_a")).toBe("k3")
    expect(made.map((stored) => ring.keyIdOf(stored, "org_a"))).toEqual(["k1", "k2", undefined])
    expect(() => ring.decrypt(made[2]!, "org_a")).toThrow("SECRETS_KEY does not decrypt a stored secret")
    expect(all.keyIdOf(made[2]!, "org_b")).toBeUndefined()
  })

  it("decrypts with a key that has a different id, and with one of two keys with the same id", () => {
    const stored = SecretCipher.make([k2]).encrypt(secret, "org_a")
    expect(SecretCipher.make([k3, { ...k2, id: "renamed" }]).keyIdOf(stored, "org_a")).toBe("renamed")
    expect(SecretCipher.make([{ ...k3, mark: 2 }, k2]).keyIdOf(stored, "org_a")).toBe("k2")
  })
})
