import { describeRamp, formatFrom, type Sender } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/Senders"
import { filterBy } from "../operations/Field.ts"
import { badge, id, inOps, list, type Tone, text } from "./List.ts"

/** Returns the state of a sender and of its link domain. */
export const senderState = (
  sender: Pick<Sender, "liveSince" | "linkDomain" | "linkDomainVerifiedAt">,
): { readonly tone: Tone; readonly word: string } => {
  const { liveSince, linkDomain, linkDomainVerifiedAt } = sender
  if (liveSince === null) return { tone: "warning", word: "Not verified" }
  return linkDomain !== null && linkDomainVerifiedAt === null
    ? { tone: "warning", word: "Live, links not verified" }
    : { tone: "good", word: "Live" }
}

export const senders = list("senders list", {
  about:
    "List the senders with the selectors that sign and the day of their ramp, oldest first. A program without a sender uses the organization's or the deployment's",
  filters: { organizationId: filterBy.organization },
  *read({ organizationId }) {
    const senders = yield* (yield* SenderRepository).list(organizationId)
    return senders.map(({ keys, ...sender }) => ({
      ...sender,
      from: formatFrom(sender),
      selectors: keys.filter(({ isSigning }) => isSigning).map(({ selector }) => selector),
    }))
  },
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
    state: {
      ...badge("State"),
      isOfConsole: true,
      value: (sender) => senderState(sender).word,
      tone: (sender) => senderState(sender).tone,
    },
    ramp: { ...text("Ramp"), value: ({ ramp }) => describeRamp(ramp) },
  },
  empty: "No senders: all e-mails use the deployment's sender. Add one, publish its DNS records and verify it.",
})
