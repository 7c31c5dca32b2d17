import { describe, expect, it } from "@effect/vitest"
import { standardSignature } from "@outreach/webhooks/standardSignature"
import fc from "fast-check"
import { Webhook } from "standardwebhooks"

const utf8 = new TextEncoder()
const message = { eventId: "evt_0190", timestamp: 1_614_265_330 }

/** Signs with the library, which decodes the secret itself. */
const signedByLibrary = (secret: string, body: string) =>
  new Webhook(secret).sign(message.eventId, new Date(message.timestamp * 1000), body)

const base62 = fc.stringMatching(/^[0-9A-Za-z]{44}$/)
const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })

describe("standardSignature", () => {
  it("signs as the test vector of Standard Webhooks and svix does", () => {
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    const given = { eventId: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330 }
    const signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    const body = utf8.encode('{"test": 2432232314}')
    expect(standardSignature(body, [secret], given)).toBe(signature)
    expect(standardSignature(body, [secret, secret], given)).toBe(`${signature} ${signature}`)
  })

  it("signs as the library does with a secret of 44 base62 characters, whatever the body", () => {
    fc.assert(
      fc.property(base62, fc.string({ unit: "grapheme" }), (text, body) => {
        const secret = `whsec_${text}`
        expect(standardSignature(utf8.encode(body), [secret], message)).toBe(signedByLibrary(secret, body))
      }),
    )
  })

  it("signs as the library does with a secret of base64url, once it is written as the library takes it", () => {
    fc.assert(
      fc.property(bytes, (key) => {
        const text = Buffer.from(key).toString("base64url")
        const taken = `whsec_${text.replaceAll("-", "+").replaceAll("_", "/")}=`
        expect(standardSignature(utf8.encode("{}"), [`whsec_${text}`], message)).toBe(signedByLibrary(taken, "{}"))
        if (/[-_]/.test(text)) expect(() => new Webhook(`whsec_${text}`)).toThrow("incorrect characters")
      }),
    )
  })
})
