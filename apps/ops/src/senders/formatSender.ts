import { linkHostOf } from "@outreach/backoffice/senders/linkHostOf"
import { dnsRecords, formatDnsRecord } from "@outreach/domain/senders/dnsRecords"
import { describeRamp } from "@outreach/domain/senders/Ramp"
import { dkimKeyState, type SenderWithKeys } from "@outreach/domain/senders/Sender"
import { Effect } from "effect"
import { formatRecord, formatRows } from "../output/Output.ts"
import { linkTarget } from "./linkTarget.ts"

/** Returns a sender with the state of each of its keys and its required DNS records. */
export const describeSender = (sender: SenderWithKeys) =>
  Effect.map(linkTarget, ({ publicBaseUrl }) => ({
    ...sender,
    keys: sender.keys.map((key) => ({ ...key, state: dkimKeyState(key) })),
    dnsRecords: dnsRecords(sender, linkHostOf(publicBaseUrl)),
  }))

export const formatSender = ({ keys, dnsRecords, ...own }: Effect.Success<ReturnType<typeof describeSender>>) => [
  formatRecord({ ...own, ramp: describeRamp(own.ramp) }),
  formatRows(keys, ["selector", "state", "createdAt", "signsFrom", "signsUntil"]),
  `DNS records:\n${dnsRecords.map(formatDnsRecord).join("\n")}`,
]
