import { cleanSmtpReply } from "@outreach/domain/mail/returned/cleanSmtpReply"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const EMAIL = "dana.reyes@clinic.test"

describe("a cleaned reply", () => {
  it.each([
    ["250 2.0.0 Ok: queued as 4F1A2B", "250 2.0.0 Ok: queued as 4F1A2B"],
    [
      "550 5.1.1 <dana.reyes@clinic.test>: Recipient address rejected: User unknown",
      "550 5.1.1 <[address]>: Recipient address rejected: User unknown",
    ],
    ["550 Dana.Reyes... User unknown", "550 [address]... User unknown"],
    ['550 "dana reyes"@clinic.test is unknown', "550 [address] is unknown"],
    ["451 4.7.1 see https://mx.test/?a=dana.reyes%40clinic.test now", "451 4.7.1 see https:[address] now"],
    ["550 5.7.1 bounce-a1=dana.reyes=clinic.test@bounces.test refused", "550 5.7.1 [address] refused"],
    ["550 NPI 1234567893 is not a user", "550 NPI [number] is not a user"],
  ])("of %j is %j", (reply, cleaned) => {
    expect(cleanSmtpReply(reply, EMAIL)).toBe(cleaned)
  })

  it("has one line, and its codes once", () => {
    expect(cleanSmtpReply("550-5.1.1 The account\r\n550-5.1.1 does\tnot\r\n550 5.1.1 exist.", EMAIL)).toBe(
      "550-5.1.1 The account does not exist.",
    )
  })

  it("leaves the words around a short local part unchanged", () => {
    expect(cleanSmtpReply("550 no mailbox no", "no@clinic.test")).toBe("550 [address] mailbox [address]")
    expect(cleanSmtpReply("550 a mailbox at large", "a@clinic.test")).toBe("550 [address] mailbox at large")
  })

  it("keeps words that equal the local part of a role", () => {
    const reply = "550 5.7.1 Mail from 192.0.2.1 to <mail@clinic.test> was blocked by the mail server"
    expect(cleanSmtpReply(reply, "mail@clinic.test")).toBe(reply.replace("mail@clinic.test", "[address]"))
  })

  it("is at most 200 characters long", () => {
    expect(cleanSmtpReply(`550 ${"x".repeat(1000)}`, EMAIL)).toHaveLength(200)
  })

  it("never contains an address, the recipient's local part, an NPI or a second line", () => {
    const words = fc.array(
      fc.oneof(fc.string(), fc.string({ unit: "grapheme" }), fc.constantFrom("<", ">", "\r\n", " ", "550-")),
    )
    const email = fc.tuple(fc.stringMatching(/^[a-z][a-z0-9.+_-]{3,12}$/), fc.domain()).map((parts) => parts.join("@"))
    fc.assert(
      fc.property(words, email, words, (before, address, after) => {
        const local = address.slice(0, address.indexOf("@"))
        const cleaned = cleanSmtpReply(
          ["550 ", ...before, address, ...after, local.toUpperCase(), " 1234567893 "].join(""),
          address,
        )
        expect(cleaned).not.toContain("@")
        expect(cleaned.toLowerCase()).not.toContain(local)
        expect(cleaned).not.toMatch(/(?<!\d)\d{10}(?!\d)/)
        expect(cleaned).not.toMatch(/[\r\n]/)
      }),
    )
  })
})
