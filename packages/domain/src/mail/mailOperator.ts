import { getDomain } from "tldts-icann"

/** A mail server of a domain, as an MX record names it. */
export interface MailExchange {
  readonly priority: number
  readonly exchange: string
}

/**
 * Returns who runs the mail servers of a domain: the registrable domain of the first of them, by the public suffix list.
 *
 * It is null where nobody else is named: without MX records, with the null MX of RFC 7505, and where a record names no host of the internet.
 */
export const mailOperator = (exchanges: ReadonlyArray<MailExchange>): string | null => {
  // Of several with the same priority, always the same one.
  const [first] = exchanges.toSorted(
    (one, other) => one.priority - other.priority || (one.exchange < other.exchange ? -1 : 1),
  )
  return first === undefined ? null : getDomain(first.exchange.replace(/\.$/, "").toLowerCase())
}
