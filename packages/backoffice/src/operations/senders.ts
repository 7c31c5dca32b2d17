import { DomainName } from "@outreach/domain/DomainName"
import { ProgramId, SenderId } from "@outreach/domain/Identifier"
import { dnsRecords, formatDnsRecord } from "@outreach/domain/senders/dnsRecords"
import { LinkDomainNotFound, LinkDomainRepository } from "@outreach/domain/senders/LinkDomainRepository"
import {
  DKIM_OVERLAP_DAYS,
  DKIM_RECORD_DAYS,
  describeRamp,
  dkimKeyState,
  formatFrom,
  isToBeVerified,
  Ramp,
  Selector,
  type Sender,
} from "@outreach/domain/senders/Sender"
import * as Senders from "@outreach/domain/senders/Senders"
import { ReplyTo, SenderRepository } from "@outreach/domain/senders/Senders"
import { noneOr } from "@outreach/domain/textSchema"
import { DkimKey, generateDkimKeyPair } from "@outreach/mail/dkimKeys"
import { senderMailbox } from "@outreach/mail/mailFrom"
import { DnsServer } from "@outreach/process/dnsServers"
import type { Effect } from "effect"
import { formatCounted } from "../format.ts"
import { OrganizationReader } from "../organizations/OrganizationReader.ts"
import { SenderSetup } from "../senders/SenderSetup.ts"
import { field, filterBy, organizationId, required } from "./Field.ts"
import { badge, id, inOps, list, type Tone, text } from "./List.ts"
import { operation, type Part, rowsPart } from "./Operation.ts"

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
    ...inOps("id"),
    organizationId: id("Organization"),
    programId: { ...id("Program"), none: "all without a separate sender" },
    from: { ...text("Sender"), of: ({ id }) => id },
    ...inOps("dkimDomain"),
    selectors: text("Signs with"),
    ...inOps("bounceDomain"),
    linkDomain: text("Link domain"),
    ...inOps("liveSince"),
    state: {
      ...badge("State"),
      isOfConsole: true,
      value: (sender) => senderState(sender).word,
      tone: (sender) => senderState(sender).tone,
    },
    ramp: { ...text("Ramp"), value: ({ ramp }) => describeRamp(ramp) },
  },
  empty: "No senders: all e-mails use the deployment's sender.",
  filledBy: "senders create",
})

const example = "Acme Health <outreach@acme.example>"
const from = field(senderMailbox, "From", { hint: "A name and an address", example, placeholder: example, size: 40 })

const details = {
  replyTo: field(noneOr(ReplyTo), "Reply-to", { hint: "Or none for the From address", inputmode: "email", size: 28 }),
  bounceDomain: field(noneOr(DomainName), "Bounce domain", {
    hint: "For return paths, such as bounces.acme.example, or none for the deployment's domain",
    size: 28,
  }),
  linkDomain: field(noneOr(DomainName), "Link domain", {
    hint: "For links and unsubscribe pages, such as click.acme.example, or none for the deployment's domain",
    size: 28,
  }),
  ramp: field(noneOr(Ramp), "Ramp", {
    hint: "Starts with these maximum messages per day (UTC), such as 200,400,800, or none for no limit",
    size: 28,
  }),
}

const key = {
  selector: field(Selector, "Key selector", { hint: "Such as s2026; default the date and four digits" }),
  dkimKey: field(DkimKey, "Key", { kind: "lines", hint: "Private RSA key; default a new key" }),
}

const dnsServer = field(DnsServer, "Name server", { hint: "ip[:port]; default this machine's" })

const domainFaults = { LinkDomainTaken: "linkDomain", LinkDomainUnusable: "linkDomain" } as const

/** Returns a sender with the state of each key and its required DNS records. */
export const describeSender = (sender: Sender) =>
  SenderSetup.useSync(({ linkHost }) => ({
    ...sender,
    keys: sender.keys.map((each) => ({ ...each, state: dkimKeyState(each) })),
    dnsRecords: dnsRecords(sender, linkHost),
  }))

type Described = Effect.Success<ReturnType<typeof describeSender>>

const partsOf = ({ keys, dnsRecords, ...own }: Described): ReadonlyArray<Part> => [
  { fields: { ...own, ramp: describeRamp(own.ramp) } },
  rowsPart(keys, ["selector", "state", "createdAt", "signsFrom", "signsUntil"]),
  `DNS records:\n${dnsRecords.map(formatDnsRecord).join("\n")}`,
]

export const showSender = operation("senders show", {
  access: "reads",
  about: "Show a sender, the state of each of its DKIM keys, and the DNS records that it needs",
  of: { senderId: SenderId },
  *run({ senderId }) {
    return yield* describeSender(yield* (yield* SenderRepository).find(senderId))
  },
  show: (sender) => partsOf(sender),
})

export const createSender = operation("senders create", {
  about:
    "Create the sender of an organization or of one of its programs, with a DKIM key, and show the DNS records to publish",
  label: "Add the sender",
  input: {
    organizationId,
    programId: field(ProgramId, "Program", {
      kind: "choice",
      all: "All without a sender",
      hint: "Default all without a separate sender",
    }),
    from: required(from),
    ...details,
    dkimDomain: field(DomainName, "DKIM domain", { hint: "Default the domain of the From address" }),
    ...key,
  },
  faults: { ...domainFaults, SenderExists: "programId", ProgramNotFound: "programId" },
  *run({ selector, dkimKey, ...request }) {
    const { linkHost } = yield* SenderSetup
    const keyPair = dkimKey ?? (yield* generateDkimKeyPair)
    return yield* describeSender(yield* Senders.addSender(request, { ...keyPair, selector }, linkHost))
  },
  show: (sender) => partsOf(sender),
  done: () => "Added. Publish its DNS records, then verify it. It isn't used before.",
  examples: ['ops senders create --organization org_… --from "Acme Health <outreach@acme.example>" --ramp 200,400,800'],
})

export const verifySender = operation("senders verify", {
  role: "operator",
  about:
    "Check a sender's DNS records and its link domain over https. If all are correct, the newest key signs, links use the domain, and the sender is live",
  label: "Verify",
  of: { senderId: SenderId },
  input: { dnsServer },
  *run({ senderId, dnsServer }) {
    const { lookUp } = yield* SenderSetup
    const { verified, checks } = yield* Senders.verifySender(senderId, (sender, linkDomain) =>
      lookUp(sender, linkDomain, dnsServer),
    )
    return { ...verified, checks }
  },
  show: ({ checks }) => [{ checks }],
  done: () => "Verified. Within a minute, workers use the sender, its newest key and its link domain.",
})

export const updateSender = operation("senders update", {
  about:
    "Change a sender, but not its DKIM domain. A live sender gets a new domain only after its DNS records were found",
  label: "Change the sender",
  of: { senderId: SenderId },
  input: { from, ...details, dnsServer },
  isPartial: true,
  faults: domainFaults,
  find: ({ senderId }) => SenderRepository.use(({ find }) => find(senderId)),
  versionOf: ({ updatedAt }) => updatedAt,
  texts: (sender) => ({
    from: formatFrom(sender),
    replyTo: sender.replyTo ?? "none",
    bounceDomain: sender.bounceDomain ?? "none",
    linkDomain: sender.linkDomain ?? "none",
    // Giving the ramp starts it again.
    ramp: undefined,
    dnsServer: undefined,
  }),
  *run({ senderId, dnsServer, ...changes }) {
    const { linkHost, lookUp } = yield* SenderSetup
    return yield* describeSender(
      yield* Senders.updateSender(senderId, changes, {
        linkHost,
        lookUp: (sender, linkDomain) => lookUp(sender, linkDomain, dnsServer),
      }),
    )
  },
  show: (sender) => partsOf(sender),
  done: (sender) =>
    isToBeVerified(sender)
      ? "Saved. Publish the new DNS records, then verify the sender."
      : "Saved. The change takes effect within a minute.",
  examples: ["ops senders update snd_… --link-domain click.acme.example"],
})

export const rotateDkimKey = operation("senders rotate-dkim", {
  about: "Add the next DKIM key, replacing one that isn't in use yet, and show its DNS record",
  label: "Add the next key",
  of: { senderId: SenderId },
  input: key,
  faults: { SelectorTaken: "selector" },
  *run({ senderId, selector, dkimKey }) {
    const keyPair = dkimKey ?? (yield* generateDkimKeyPair)
    return yield* describeSender(yield* Senders.addSenderKey(senderId, { ...keyPair, selector }))
  },
  show: (sender) => partsOf(sender),
  done: () =>
    `Key created. Publish its record, then verify the sender. Then the old key also signs for ${DKIM_OVERLAP_DAYS} days; keep its record for ${DKIM_RECORD_DAYS} days after that.`,
})

export const removeSender = operation("senders remove", {
  about: "Remove a sender and its DKIM keys permanently",
  label: "Remove permanently",
  link: "Remove",
  isIrreversible: true,
  of: { senderId: SenderId },
  *plan({ senderId }) {
    const { programId, organizationId, keys, ...sender } = yield* (yield* SenderRepository).find(senderId)
    const fallback = programId === null ? "the deployment's sender" : "the organization's sender, or the deployment's"
    return {
      title: `Remove ${formatFrom(sender)}`,
      many: `1 sender, with ${formatCounted(keys.length, "DKIM key")}`,
      affects: yield* (yield* OrganizationReader).find(organizationId),
      when: `Within a minute, its e-mails are sent by ${fallback}.`,
      facts: { Sender: { id: senderId, name: senderId } },
      caution: { word: sender.fromAddress, because: "This can't be undone. Its keys are deleted, too." },
    }
  },
  *run({ senderId }) {
    const senders = yield* SenderRepository
    const { organizationId, programId } = yield* senders.find(senderId)
    yield* senders.remove(senderId)
    return { id: senderId, organizationId, programId, removed: true }
  },
  done: () => "Removed with its DKIM keys. Keep their DNS records for a week.",
})

export const removeLinkDomain = operation("link-domains remove", {
  about: "Remove a link domain that no sender uses: links in sent e-mails stop working",
  label: "Remove permanently",
  link: "Remove",
  isIrreversible: true,
  of: { linkDomain: DomainName },
  *plan({ linkDomain: domain }) {
    const found = (yield* (yield* LinkDomainRepository).list()).find((each) => each.domain === domain)
    if (found === undefined) return yield* new LinkDomainNotFound({ domain })
    return {
      title: `Remove ${domain}`,
      many: "All links in e-mails sent with it",
      affects: yield* (yield* OrganizationReader).find(found.organizationId),
      when: "When its certificate expires, the links stop working.",
      caution: { word: domain, because: "This can't be undone. Links in sent e-mails stop working." },
    }
  },
  *run({ linkDomain }) {
    return { ...(yield* (yield* LinkDomainRepository).remove(linkDomain)), removed: true }
  },
  done: ({ domain }) => `Removed ${domain}.`,
  examples: ["ops link-domains remove click.acme.example"],
})
