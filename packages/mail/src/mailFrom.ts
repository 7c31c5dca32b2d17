import { isAscii, toAsciiDomain } from "@outreach/domain/DomainName"
import { domainOf, type Mailbox } from "@outreach/domain/senders/Sender"
import { assertNoDirectionMark, textSchema } from "@outreach/domain/textSchema"
import addressparser from "nodemailer/lib/addressparser"

/** Text of a sender, such as the setting `MAIL_FROM`. */
export const mailFrom = textSchema(
  "an e-mail address, or a name and an address as in Acme Outreach <outreach@acme.example>",
  readMailbox,
)

/** A sender's mailbox at a domain that can have an MX record. */
export const senderMailbox = textSchema(
  "a name and an e-mail address in ASCII, as in Acme Outreach <outreach@acme.example>",
  (text) => {
    const mailbox = readMailbox(text)
    return mailbox !== undefined &&
      toAsciiDomain(domainOf(mailbox.address)) !== undefined &&
      !/\p{Cc}/u.test(mailbox.name)
      ? mailbox
      : undefined
  },
)

function readMailbox(text: string): Mailbox | undefined {
  const [mailbox, ...others] = addressparser(text)
  if (mailbox === undefined || others.length > 0 || !("address" in mailbox)) return undefined
  const { name = "", address = "" } = mailbox
  if (!/^[^\s@<>,;:"]+@[^\s@<>,;:"]+$/.test(address) || /[\r\n]/.test(text)) return undefined
  assertNoDirectionMark(name)
  const at = address.lastIndexOf("@")
  const [localPart, domain] = [address.slice(0, at), address.slice(at + 1)]
  // Otherwise servers without SMTPUTF8 couldn't receive any message.
  if (!isAscii(localPart)) return undefined
  const ascii = isAscii(domain) ? domain : toAsciiDomain(domain)
  return ascii === undefined ? undefined : { name, address: `${localPart}@${ascii}` }
}
