import { Result } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { checkDigit, Npi } from "../../src/recipients/Clinician.ts"
import { parseInput } from "../../src/textSchema.ts"

const nine = fc.integer({ min: 0, max: 999_999_999 }).map((n) => String(n).padStart(9, "0"))
const npi = nine.map((digits) => digits + checkDigit(digits))

/** Luhn sum of ISO/IEC 7812 over a whole card number, written out. */
const luhn = (digits: string): number =>
  [...digits].reverse().reduce((sum, digit, i) => {
    const value = Number(digit) * (i % 2 === 1 ? 2 : 1)
    return sum + Math.floor(value / 10) + (value % 10)
  }, 0)

const reasonAgainst = (text: string) => Result.getOrUndefined(Result.flip(parseInput(Npi)(text)))?.reason

describe("Npi", () => {
  // 1234567893 is the example of the CMS requirements; the others are from the public NPPES file and X12 examples.
  it.each(["1234567893", "1497758544", "1245319599"])("accepts the published NPI %s", (published) => {
    expect(reasonAgainst(published)).toBeUndefined()
  })

  it("agrees with the Luhn algorithm over the issuer prefix 80840", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{10}$/), (digits) => {
        expect(reasonAgainst(digits) === undefined).toBe(luhn(`80840${digits}`) % 10 === 0)
      }),
    )
    fc.assert(
      fc.property(npi, (digits) => {
        expect(reasonAgainst(digits)).toBeUndefined()
      }),
    )
  })

  it.each(["", "123456789", "12345678930", "123456789X", " 1234567893", "1234567893\n", "１２３４５６７８９３"])(
    "refuses %j, which is not ten digits, without repeating it",
    (text) => {
      expect(reasonAgainst(text)).toBe("the NPI is not ten digits")
    },
  )
})
