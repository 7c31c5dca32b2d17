import { EMAIL } from "@outreach/contract/emailPattern"
import { Effect, Schema, SchemaGetter, SchemaIssue } from "effect"
import { isAscii, toAsciiDomain } from "../DomainName.ts"

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
