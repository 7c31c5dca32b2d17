import { senders as senderList } from "@outreach/backoffice/lists/senders"
import {
  createSender,
  type describeSender,
  removeSender,
  rotateDkimKey,
  showSender,
  updateSender,
  verifySender,
} from "@outreach/backoffice/operations/senders"
import { formatDnsRecord } from "@outreach/domain/senders/dnsRecords"
import { describeRamp } from "@outreach/domain/senders/Ramp"
import type { Effect } from "effect"
import { command } from "../command.ts"
import { group } from "../group.ts"
import { formatFinding, formatRecord, formatRows } from "../output/Output.ts"
import { senderSetup } from "../senders/senderSetup.ts"

const format = ({ keys, dnsRecords, ...own }: Effect.Success<ReturnType<typeof describeSender>>) => [
  formatRecord({ ...own, ramp: describeRamp(own.ramp) }),
  formatRows(keys, ["selector", "state", "createdAt", "signsFrom", "signsUntil"]),
  `DNS records:\n${dnsRecords.map(formatDnsRecord).join("\n")}`,
]

const options = { format, services: senderSetup }

export const senders = group("senders", "The sender identities of e-mails, and the DKIM keys that sign them", [
  command(createSender, options),
  senderList,
  command(showSender, options),
  command(updateSender, options),
  command(verifySender, {
    format: ({ checks }) => checks.map((check) => formatFinding("", check)).join("\n"),
    services: senderSetup,
  }),
  command(rotateDkimKey, options),
  removeSender,
])
