import type { DkimKey, Sender } from "./Sender.ts"
import { domainOf } from "./Sender.ts"

/** A DNS record that a sender needs. The operator fills in values in angle brackets. */
export interface DnsRecord {
  readonly name: string
  readonly type: "TXT" | "MX" | "CNAME"
  /** Strings of a TXT record, each at most 255 bytes (RFC 1035, 3.3.14), or the value of another record. */
  readonly values: ReadonlyArray<string>
}

const MAX_TEXT_LENGTH = 255

export const dkimName = ({ selector }: Pick<DkimKey, "selector">, domain: string): string =>
  `${selector}._domainkey.${domain}`

export const dmarcName = (address: string): string => `_dmarc.${domainOf(address)}`

/**
 * Returns a sender's DNS records: those of its current keys, its From domain, its bounce domain, and
 * its link domain, which points to `linkHost`; null if unknown.
 */
export const dnsRecords = (sender: Sender, linkHost: string | null): ReadonlyArray<DnsRecord> => {
  const { dkimDomain, bounceDomain, linkDomain, fromAddress, keys } = sender
  const txt = (name: string, text: string): DnsRecord => ({ name, type: "TXT", values: splitText(text) })
  return [
    ...keys
      .filter(({ isOver }) => !isOver)
      .map((key) => txt(dkimName(key, dkimDomain), `v=DKIM1; k=rsa; p=${key.publicKey}`)),
    txt(dmarcName(fromAddress), "v=DMARC1; p=none; rua=mailto:<address for reports>"),
    ...(bounceDomain === null
      ? []
      : [
          txt(bounceDomain, "v=spf1 include:<record of your mail server> ~all"),
          { name: bounceDomain, type: "MX" as const, values: ["10 <host that hands mail to BOUNCE_SMTP_PORT>"] },
        ]),
    ...(linkDomain === null
      ? []
      : [{ name: linkDomain, type: "CNAME" as const, values: [`${linkHost ?? "<host of PUBLIC_BASE_URL>"}.`] }]),
  ]
}

/** Formats a record as a line of a zone file (RFC 1035, 5.1). */
export const formatDnsRecord = ({ name, type, values }: DnsRecord): string =>
  `${name}. IN ${type} ${type === "TXT" ? values.map((text) => `"${text}"`).join(" ") : values.join(" ")}`

const splitText = (text: string): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(text.length / MAX_TEXT_LENGTH) }, (_, i) =>
    text.slice(i * MAX_TEXT_LENGTH, (i + 1) * MAX_TEXT_LENGTH),
  )
