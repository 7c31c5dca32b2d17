import { dnsRecords, formatDnsRecord } from "@outreach/domain/senders/dnsRecords"
import type { DkimKey, SenderWithKeys } from "@outreach/domain/senders/Sender"
import { formatRecord, formatRows, print } from "../output/Output.ts"

/** Formats a name and an address as in `Acme <outreach@acme.example>`. */
export const formatMailbox = (name: string, address: string): string => (name === "" ? address : `${name} <${address}>`)

/** Describes what a key does now. */
const keyState = ({ signsFrom, signsUntil, isSigning, isOver }: DkimKey): string => {
  if (signsFrom === null) return "pending"
  if (isSigning) return signsUntil === null ? "signing" : "signing beside the next"
  return isOver ? "over" : "signs no more, its record is still needed"
}

/** Prints a sender with its keys and the DNS records that it needs. */
export const printSender = (sender: SenderWithKeys) => {
  const { keys, ...own } = sender
  const records = dnsRecords(sender)
  const rows = keys.map((key) => ({ ...key, state: keyState(key) }))
  return print({ ...own, keys: rows, dnsRecords: records }, () =>
    [
      formatRecord(own),
      formatRows(rows, ["selector", "state", "createdAt", "signsFrom", "signsUntil"]),
      `DNS records:\n${records.map(formatDnsRecord).join("\n")}`,
    ].join("\n\n"),
  )
}
