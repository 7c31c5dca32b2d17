import { Schema } from "effect"
import { isAscii } from "../DomainName.ts"
import { EmailAddress } from "../recipients/EmailAddress.ts"

/** Address for replies. Non-ASCII letters would require SMTPUTF8 on every server. */
export const ReplyTo = EmailAddress.check(Schema.makeFilter(isAscii)).annotate({
  expected: "an e-mail address in ASCII",
})
