import { createPrivateKey } from "node:crypto"
import { generateDkimKeyPair } from "@outreach/mail/dkimKeys"
import { mimeMessage } from "@outreach/mail/mimeMessage"
import { signMessage } from "@outreach/mail/signMessage"
import { Effect, Redacted } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { mailTo } from "./testMail.ts"
import { verifySignatures } from "./verifySignatures.ts"

const domain = `${"sub.".repeat(30)}acme.test`
const { publicKey, privateKey } = await Effect.runPromise(generateDkimKeyPair)
const key = createPrivateKey(Redacted.value(privateKey))
const signers = ["s1", "s2"].map((selector) => ({ domain, selector, privateKey: key }))
const record = `v=DKIM1; k=rsa; p=${publicKey}`
const records = { [`s1._domainkey.${domain}`]: record, [`s2._domainkey.${domain}`]: record }

const results = async (message: Buffer) =>
  (await verifySignatures(message.toString(), records)).map(({ status }) => status.result)

describe("signMessage", () => {
  it("signs any message with each key so that other libraries verify it, in lines of up to 78 characters", async () => {
    const text = fc
      .array(fc.oneof(fc.constantFrom("\n", " ", "\t", "  \n", "é", ".", "\n\n\n"), fc.string({ unit: "grapheme" })))
      .map((parts) => `x${parts.join("")}`)
    const line = fc.string({ unit: "grapheme", minLength: 1 }).filter((it) => /\S/.test(it))
    await fc.assert(
      fc.asyncProperty(
        text,
        line,
        fc.constantFrom("a@clinic.test", "müllerà@clinic.test"),
        async (body, subject, to) => {
          const sender = { from: { name: subject, address: "a@acme.test" } }
          const unsubscribeUrl = `https://outreach.test/${"x".repeat(90)}`
          const mail = mailTo(to, { sender, subject, text: body, html: body, unsubscribeUrl })
          const message = signMessage(Buffer.from(mimeMessage(mail)), signers)
          expect(await results(message)).toEqual(["pass", "pass"])
          const signatures = message.toString("latin1").split("\r\nFrom:")[0]!
          expect(signatures.split("\r\n").filter(({ length }) => length > 78)).toEqual([
            ` d=${domain};`,
            ` d=${domain};`,
          ])
        },
      ),
    )
  })

  it("signs an empty body, and one that ends without a line end or with empty lines", async () => {
    for (const body of ["", "x", "x\r\n\r\n\r\n", "\r\n\r\n"]) {
      expect(
        await results(signMessage(Buffer.from(`From: a@acme.test\r\n\r\n${body}`), signers)),
        JSON.stringify(body),
      ).toEqual(["pass", "pass"])
    }
  })

  it("signs every header of an unsubscription, and a change of one is noticed", async () => {
    const head =
      "From: a@acme.test\r\nList-Unsubscribe: <https://x.test/1>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"
    const message = signMessage(Buffer.from(`${head}Feedback-ID: a:b\r\n\r\nx\r\n`), signers)
    expect(await results(message)).toEqual(["pass", "pass"])
    for (const [from, to] of [
      ["x.test/1", "x.test/2"],
      ["One-Click", "Two-Click"],
      ["a:b", "a:c"],
    ] as const) {
      expect(await results(Buffer.from(message.toString().replace(from, to)))).toEqual(["fail", "fail"])
    }
  })
})
