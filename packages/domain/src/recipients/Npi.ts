import { Schema } from "effect"

/**
 * A national provider identifier.
 *
 * Ten digits; the last is the Luhn check digit of the prefix 80840 and the first nine. Source: CMS, Requirements for NPI and NPI check digit (45 CFR 162.406).
 */
export const Npi = Schema.String.check(
  Schema.makeFilter((text) => {
    if (!/^\d{10}$/.test(text)) return "the NPI is not ten digits"
    return checkDigit(text.slice(0, 9)) === text[9] || "the NPI's check digit is wrong"
  }),
).pipe(Schema.annotate({ expected: "a valid NPI of ten digits" }), Schema.brand("Npi"))
export type Npi = typeof Npi.Type

/** Computes the check digit of an NPI's first nine digits. */
export const checkDigit = (nine: string): string => {
  // The constant prefix 80840 adds 24 to the Luhn sum.
  let sum = 24
  for (let i = 0; i < 9; i++) {
    const digit = Number(nine[i])
    sum += i % 2 === 0 ? (digit < 5 ? 2 * digit : 2 * digit - 9) : digit
  }
  return String((10 - (sum % 10)) % 10)
}
