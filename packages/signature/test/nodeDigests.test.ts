import { createHmac } from "node:crypto"
import fc from "fast-check"
import { expect, it } from "vitest"
import { nodeDigests } from "../src/nodeDigests.ts"

const hmac = (secret: string, timestamp: number, body: string | Uint8Array) =>
  createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest("hex")

it("agrees with HMAC for any body, and for secrets shorter and longer than a block", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 300 })
  const secrets = fc.array(
    fc.oneof(fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }), fc.string({ minLength: 60, maxLength: 70 })),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  fc.assert(
    fc.property(
      fc.oneof(text, fc.uint8Array({ maxLength: 300 })),
      secrets,
      fc.maxSafeNat(),
      (body, secrets, timestamp) => {
        expect(nodeDigests(body, secrets, timestamp)).toEqual(secrets.map((secret) => hmac(secret, timestamp, body)))
      },
    ),
  )
})

it.each(["a", "é", "€", "🜨"])("agrees with HMAC about bodies up to and beyond what it gathers, of %s", (character) => {
  for (const characters of [
    0, 1, 63, 64, 65, 10_897, 10_898, 16_346, 16_347, 32_692, 32_693, 32_694, 87_000, 87_380, 87_400, 300_000,
  ]) {
    const body = character.repeat(characters)
    for (const form of [body, Buffer.from(body)]) {
      expect(nodeDigests(form, ["whsec_a"], 1_772_426_227)).toEqual([hmac("whsec_a", 1_772_426_227, form)])
    }
  }
})
