import { Email } from "@outreach/contract"
import { Result } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { canonicalEmail, EmailAddress } from "../../src/recipients/Clinician.ts"
import { parseInput } from "../../src/textSchema.ts"

describe("an e-mail address", () => {
  it.each([
    ["Dana.Reyes@Clinic.test", "Dana.Reyes@Clinic.test"],
    ["a@xn--bro-hoa.test", "a@xn--bro-hoa.test"],
    ["a@clinic.xn--p1ai", "a@clinic.xn--p1ai"],
    ["Anna@BÜRO.test", "Anna@xn--bro-hoa.test"],
    ["Anna@bu\u0308ro.test", "Anna@xn--bro-hoa.test"],
    ["anna@клиника.рф", "anna@xn--80apagcdp.xn--p1ai"],
    ["JOSÉ@Clinic.test", "josé@Clinic.test"],
    ["jose\u0301@büro.test", "josé@xn--bro-hoa.test"],
    ["用户@例子.广告", "用户@xn--fsqu00a.xn--4rr70v"],
    ["ΝΙΚΟΣ@clinic.test", "νικος@clinic.test"],
    ["İ@clinic.test", "i\u0307@clinic.test"],
  ])("%s is kept as %s", (text, kept) => {
    expect(canonicalEmail(text)).toBe(kept)
    expect(parseInput(EmailAddress)(text)).toEqual(Result.succeed(kept))
  })

  it.each([
    ["a control", "jos\u0000é@clinic.test"],
    ["a space of another width", "jos\u2003é@clinic.test"],
    ["a mark of direction", "jos\u202eé@clinic.test"],
    ["a soft hyphen", "jos\u00adé@clinic.test"],
    ["half a character", "jos\ud83dé@clinic.test"],
    ["no domain", "josé@"],
    ["a domain of one label", "josé@büro"],
    ["an unseen joiner in its domain", "anna@bü\u200dro.test"],
    ["a number for a domain", "josé@１.２.３.４"],
    ["what ends a host", "anna@büro／x.test"],
    ["two at signs", "josé@a@clinic.test"],
    ["two dots", "jos..é@clinic.test"],
  ])("with %s is not valid", (_, text) => {
    expect(canonicalEmail(text)).toBeUndefined()
  })

  const letter = fc.constantFrom(..."aZ09._+-éÉüßİıσςΣж字e\u0301\u0308")
  const localPart = fc.array(letter, { minLength: 1, maxLength: 12 }).map((letters) => letters.join(""))
  const address = fc
    .tuple(localPart, localPart, fc.constantFrom("test", "Рф", "xn--p1ai"))
    .map(([local, label, tld]) => `${local}@${label}.${tld}`)

  it("has one canonical form: valid in the API, ASCII after the @, and unchanged by lower()", () => {
    fc.assert(
      fc.property(address, (text) => {
        const kept = canonicalEmail(text)
        if (kept === undefined) return
        expect(canonicalEmail(kept)).toBe(kept)
        expect(Email.safeParse(kept).success).toBe(true)
        expect(kept).toMatch(/@[!-~]+$/)
        expect(canonicalEmail(text.normalize("NFD"))).toBe(kept)
        const [local] = kept.split("@")
        if (/[^ -~]/.test(local!)) expect(local!.toLowerCase()).toBe(local)
      }),
    )
  })

  it("in ASCII is valid, and kept, as it always was", () => {
    fc.assert(
      fc.property(fc.emailAddress(), (text) => {
        if (Email.safeParse(text).success) expect(canonicalEmail(text)).toBe(text)
      }),
    )
  })
})
