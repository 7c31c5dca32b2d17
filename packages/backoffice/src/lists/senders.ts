import { describeRamp } from "@outreach/domain/senders/Ramp"
import { formatFrom } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { Effect } from "effect"
import { organizationFilter } from "../operations/Field.ts"
import { id, inOps, list, text } from "./List.ts"

export const senders = list("senders list", {
  about:
    "List the senders with the selectors that sign and the day of their ramp, oldest first. A program without a sender uses the organization's or the deployment's",
  filters: { organizationId: organizationFilter },
  read: ({ organizationId }) =>
    Effect.map(
      SenderRepository.use(({ list }) => list(organizationId)),
      (senders) =>
        senders.map(({ keys, ...sender }) => ({
          ...sender,
          from: formatFrom(sender),
          selectors: keys.filter(({ isSigning }) => isSigning).map(({ selector }) => selector),
        })),
    ),
  columns: {
    id: inOps,
    organizationId: id("Organization"),
    programId: { ...id("Program"), none: "all without a separate sender" },
    from: { ...text("Sender"), of: ({ id }) => id },
    dkimDomain: inOps,
    selectors: text("Signs with"),
    bounceDomain: inOps,
    linkDomain: text("Link domain"),
    liveSince: inOps,
    state: { ...text("State"), isOfConsole: true },
    ramp: { ...text("Ramp"), value: ({ ramp }) => describeRamp(ramp) },
  },
  empty: "No senders: all e-mails use the deployment's sender. Add one, publish its DNS records and verify it.",
})
