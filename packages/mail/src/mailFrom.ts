import { textSchema } from "@outreach/domain/textSchema"
import addressparser from "nodemailer/lib/addressparser"

/** Who the e-mails come from. */
export interface Sender {
  readonly name: string
  readonly address: string
}

/** The text of the setting `MAIL_FROM`. The domain of its address is the right-hand side of every Message-ID, so that the two are aligned. */
export const mailFrom = textSchema(
  "an e-mail address, or a name and an address as in Acme Outreach <outreach@acme.example>",
  readSender,
)

/** Reads the domain of a sender's address. */
export const domainOf = ({ address }: Sender): string => address.slice(address.lastIndexOf("@") + 1)

function readSender(text: string): Sender | undefined {
  const [sender, ...others] = addressparser(text)
  if (sender === undefined || others.length > 0 || !("address" in sender)) return undefined
  const { name, address } = sender
  return address !== undefined && /^[^\s@<>,;:"]+@[^\s@<>,;:"]+$/.test(address) && !/[\r\n]/.test(text)
    ? { name: name ?? "", address }
    : undefined
}
