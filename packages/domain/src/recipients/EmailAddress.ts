import { Email } from "@outreach/contract"
import { Effect, Schema, SchemaGetter, SchemaIssue } from "effect"
import { isAscii, toAsciiDomain } from "../DomainName.ts"

/** What no address that a person writes contains: controls, direction marks, spaces, and unassigned characters. */
const UNSEEN = /[\p{C}\p{Z}]/u

/**
 * Returns the one form in which an address is kept and compared, or undefined if it is not valid.
 *
 * The domain is in ASCII (RFC 5890). A local part with other letters (RFC 6531) is in NFC and lower case, so that `lower()` leaves it as it is under every
 * collation. An address in ASCII stays as it is.
 */
export const canonicalEmail = (text: string): string | undefined => {
  if (!Email.safeParse(text).success) return undefined
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

/** An e-mail address in the form in which it is kept, from one as the contract defines it. */
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
