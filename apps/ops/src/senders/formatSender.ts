import { dnsRecords, formatDnsRecord } from "@outreach/domain/senders/dnsRecords"
import type { RampState } from "@outreach/domain/senders/Ramp"
import type { DkimKey, SenderWithKeys } from "@outreach/domain/senders/Sender"
import { Effect } from "effect"
import { formatRecord, formatRows } from "../output/Output.ts"
import { linkTarget } from "./linkTarget.ts"

/** Formats a name and an address as in `Acme <outreach@acme.example>`. */
export const formatMailbox = (name: string, address: string): string => (name === "" ? address : `${name} <${address}>`)

/** Formats where a sender stands in its ramp, as in `day 2 of 3: 120 of 400 sent`; null without one. */
export const formatRamp = (ramp: RampState | null): string | null => {
  if (ramp === null) return null
  const { sentToday, allowedToday } = ramp
  const days = ramp.daily.split(",").length
  if (sentToday === null || allowedToday === null) return `over, after ${days} days`
  const next = sentToday < allowedToday ? "" : ", the next at 00:00 UTC"
  return `day ${ramp.day} of ${days}: ${sentToday} of ${allowedToday} sent${next}`
}

const keyState = ({ signsFrom, signsUntil, isSigning, isOver }: DkimKey): string => {
  if (signsFrom === null) return "pending"
  if (isSigning) return signsUntil === null ? "signing" : "signing beside the next"
  return isOver ? "over" : "signs no more, its record is still needed"
}

/** Returns a sender with what each of its keys does, and the DNS records that it needs. */
export const describeSender = (sender: SenderWithKeys) =>
  Effect.map(linkTarget, ({ linkHost }) => ({
    ...sender,
    keys: sender.keys.map((key) => ({ ...key, state: keyState(key) })),
    dnsRecords: dnsRecords(sender, linkHost),
  }))

export const formatSender = ({ keys, dnsRecords, ...own }: Effect.Success<ReturnType<typeof describeSender>>) => [
  formatRecord({ ...own, ramp: formatRamp(own.ramp) }),
  formatRows(keys, ["selector", "state", "createdAt", "signsFrom", "signsUntil"]),
  `DNS records:\n${dnsRecords.map(formatDnsRecord).join("\n")}`,
]
