import { EMAIL } from "@outreach/contract/emailPattern"
import { Effect, Schema, SchemaGetter, SchemaIssue } from "effect"
import { isAscii, toAsciiDomain } from "../DomainName.ts"

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

/** Invisible characters that valid addresses don't contain: controls, direction marks, spaces, and unassigned characters. */
const UNSEEN = /[\p{C}\p{Z}]/u

/**
 * Returns the normalized form of an address for storing and comparing, or undefined if it is invalid.
 *
 * The domain is in ASCII (RFC 5890). A local part with other letters (RFC 6531) is in NFC and lower case, so that `lower()` doesn't change it under any
 * collation. An ASCII address is unchanged.
 */
export const canonicalEmail = (text: string): string | undefined => {
  if (!EMAIL.test(text)) return undefined
  if (isAscii(text)) return text
  const composed = text.normalize("NFC")
  if (UNSEEN.test(composed)) return undefined
  const at = composed.lastIndexOf("@")
  const domain = toAsciiDomain(composed.slice(at + 1))
  const localPart = composed.slice(0, at)
  if (domain === undefined) return undefined
  return `${isAscii(localPart) ? localPart : localPart.toLowerCase().normalize("NFC")}@${domain}`
}

const notValid = "the e-mail address is not valid"

/** A normalized e-mail address, parsed from one allowed by the contract. */
export const EmailAddress = Schema.String.pipe(
  Schema.decodeTo(
    Schema.String.check(Schema.makeFilter((text) => canonicalEmail(text) === text || notValid)).pipe(
      Schema.brand("EmailAddress"),
    ),
    {
      decode: SchemaGetter.transformEffect((text) => {
        const canonical = canonicalEmail(text)
        return canonical === undefined
          ? Effect.fail(new SchemaIssue.InvalidValue({ message: notValid }))
          : Effect.succeed(canonical)
      }),
      encode: SchemaGetter.passthrough(),
    },
  ),
  Schema.annotate({ expected: "an e-mail address" }),
)
export type EmailAddress = typeof EmailAddress.Type

/** Masks an e-mail address except its first character and its domain. */
export const maskEmail = (email: string): string => {
  const [first = ""] = email
  return `${first}•••${email.slice(email.lastIndexOf("@"))}`
}

/** Masks an NPI except its last four digits. */
export const maskNpi = (npi: string): string => `••••••${npi.slice(-4)}`

/** A clinician with an NPI, an e-mail address (case-insensitive), or both. */
export const Clinician = Schema.Struct({ npi: Schema.NullOr(Npi), email: Schema.NullOr(EmailAddress) }).check(
  Schema.makeFilter(
    ({ npi, email }) => npi !== null || email !== null || "neither an NPI nor an e-mail address is given",
  ),
)
export type Clinician = typeof Clinician.Type
