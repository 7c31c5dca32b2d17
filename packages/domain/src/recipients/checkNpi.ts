/**
 * Returns what is wrong with a national provider identifier, or undefined.
 *
 * Ten digits, of which the last is the Luhn check digit over the prefix 80840 and the first nine. Source: CMS, Requirements for NPI and NPI check digit (45 CFR 162.406).
 */
export const checkNpi = (npi: string): string | undefined => {
  if (!/^\d{10}$/.test(npi)) return "the NPI is not ten digits"
  return checkDigit(npi.slice(0, 9)) === npi[9] ? undefined : "the NPI's check digit is wrong"
}

/** Computes the check digit of the first nine digits of an NPI. */
export const checkDigit = (nine: string): string => {
  // 24 is what the constant prefix 80840 adds to the Luhn sum.
  let sum = 24
  for (let i = 0; i < 9; i++) {
    const digit = Number(nine[i])
    sum += i % 2 === 0 ? (digit < 5 ? 2 * digit : 2 * digit - 9) : digit
  }
  return String((10 - (sum % 10)) % 10)
}
