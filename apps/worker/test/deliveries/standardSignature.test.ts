import { describe, expect, it } from "@effect/vitest"
import { standardSignature } from "@outreach/webhooks/HttpWebhookClient"
import fc from "fast-check"
import { Webhook } from "standardwebhooks"
import vectors from "../data/standardWebhooks.json" with { type: "json" }

const utf8 = new TextEncoder()
const message = { eventId: "evt_0190", timestamp: 1_614_265_330 }

/** Signs with the library, which decodes the secret itself. */
const signedByLibrary = (secret: string, body: string) =>
  new Webhook(secret).sign(message.eventId, new Date(message.timestamp * 1000), body)

const text = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((key) => Buffer.from(key).toString("base64url"))
const body = fc.string({ unit: "grapheme" })

describe("standardSignature", () => {
  it.each(vectors.cases)("creates a signature that the libraries for PHP and Ruby verified: $name", (vector) => {
    const { secrets, id: eventId, timestamp, body, signature } = vector
    expect(standardSignature(utf8.encode(body), secrets, { eventId, timestamp })).toBe(signature)
  })

  it("signs as the library does with a secret of base64url, once it is written in the other alphabet", () => {
    fc.assert(
      fc.property(text, body, (text, body) => {
        const taken = `whsec_${text.replaceAll("-", "+").replaceAll("_", "/")}`
        const signature = standardSignature(utf8.encode(body), [`whsec_${text}`], message)
        expect(signature).toBe(signedByLibrary(taken, body))
        expect(signature).toBe(signedByLibrary(`${taken}=`, body))
        if (/[-_]/.test(text)) expect(() => new Webhook(`whsec_${text}`)).toThrow("incorrect characters")
      }),
    )
  })
})
