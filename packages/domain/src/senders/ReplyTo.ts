import { Schema } from "effect"
import { isAscii } from "../DomainName.ts"
import { EmailAddress } from "../recipients/EmailAddress.ts"

/** Where replies to a sender go. With other letters than ASCII, its header would need SMTPUTF8 on every server. */
export const ReplyTo = EmailAddress.check(Schema.makeFilter(isAscii)).annotate({
  expected: "an e-mail address in ASCII",
})
