import { senders as senderList } from "@outreach/backoffice/lists/senders"
import {
  createSender,
  describeSender,
  removeSender,
  rotateDkimKey,
  updateSender,
  verifySender,
} from "@outreach/backoffice/operations/senders"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { SenderId } from "@outreach/domain/Identifier"
import { formatDnsRecord } from "@outreach/domain/senders/dnsRecords"
import { describeRamp } from "@outreach/domain/senders/Ramp"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { Effect, Layer } from "effect"
import { group, reading } from "../Declaration.ts"
import { argument } from "../inputs/Input.ts"
import { listCommand } from "../listCommand.ts"
import { command } from "../operationCommand.ts"
import { formatFinding, formatRecord, formatRows } from "../output/Output.ts"
import { senderRepository } from "../secretCipher.ts"
import { senderSetup } from "../senders/senderSetup.ts"

const format = ({ keys, dnsRecords, ...own }: Effect.Success<ReturnType<typeof describeSender>>) => [
  formatRecord({ ...own, ramp: describeRamp(own.ramp) }),
  formatRows(keys, ["selector", "state", "createdAt", "signsFrom", "signsUntil"]),
  `DNS records:\n${dnsRecords.map(formatDnsRecord).join("\n")}`,
]

const show = reading({
  about: "Show a sender, the state of each of its DKIM keys, and the DNS records that it needs",
  input: { senderId: argument(SenderId, "The sender's id, snd_…") },
  run: ({ senderId }) =>
    Effect.flatMap(
      SenderRepository.use(({ find }) => find(senderId)),
      describeSender,
    ),
  format: (sender) => format(sender),
})

export const senders = group({
  about: "The sender identities of e-mails, and the DKIM keys that sign them",
  commands: {
    create: command(createSender, { format }),
    list: listCommand(senderList),
    show,
    update: command(updateSender, { format }),
    verify: command(verifySender, {
      format: ({ checks }) => checks.map((check) => formatFinding("", check)).join("\n"),
    }),
    "rotate-dkim": command(rotateDkimKey, { format }),
    remove: command(removeSender),
  },
  services: Layer.mergeAll(senderRepository, senderSetup, OrganizationReader.layer),
})
