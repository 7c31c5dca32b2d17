import { Email } from "@outreach/contract"
import { Schema } from "effect"

/** An e-mail address, as the contract defines it. */
export const EmailAddress = Schema.String.check(
  Schema.makeFilter((text) => Email.safeParse(text).success || "the e-mail address is not valid"),
).pipe(Schema.annotate({ expected: "an e-mail address" }), Schema.brand("EmailAddress"))
export type EmailAddress = typeof EmailAddress.Type
