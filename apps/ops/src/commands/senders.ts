import { linkHostOf } from "@outreach/backoffice/senders/linkHostOf"
import { DomainName } from "@outreach/domain/DomainName"
import { ProgramId, SenderId } from "@outreach/domain/Identifier"
import { describeRamp, Ramp } from "@outreach/domain/senders/Ramp"
import { DKIM_OVERLAP_DAYS, DKIM_RECORD_DAYS, formatFrom, Selector } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { addSender, addSenderKey, updateSender, verifySender } from "@outreach/domain/senders/Senders"
import { noneOr } from "@outreach/domain/textSchema"
import { Effect } from "effect"
import { changing, group, reading } from "../Declaration.ts"
import { dnsServer, organizationId } from "../inputs/filters.ts"
import { argument, flag, optional, text, type Values } from "../inputs/Input.ts"
import { confirm, Output, printToStderr, yes } from "../output/Output.ts"
import { senderRepository } from "../secretCipher.ts"
import { describeSender, formatSender } from "../senders/formatSender.ts"
import { linkTarget } from "../senders/linkTarget.ts"

// Loaded when a flag is given, because they load libraries.
const senderMailbox = Effect.promise(async () => (await import("@outreach/mail/mailFrom")).senderMailbox)
const replyTo = Effect.promise(async () => (await import("@outreach/domain/senders/ReplyTo")).ReplyTo)

const senderId = argument(SenderId, "The sender's id, snd_…")

const from = flag(senderMailbox, "The From address, such as 'Acme Health <outreach@acme.example>'")

const keyFlags = {
  selector: optional(flag(Selector, "The selector of the key (default the date and four random digits)")),
  dkimKey: optional(text("The file of an RSA key that signs (default a new key)", "file")),
}

const linkDomain = "The domain of tracked links and pages to unsubscribe, such as click.acme.example"

const newKey = Effect.fnUntraced(function* ({ selector, dkimKey }: Values<typeof keyFlags>) {
  const { dkimKeyPair } = yield* Effect.promise(() => import("../senders/dkimKeyPair.ts"))
  return { ...(yield* dkimKeyPair(dkimKey)), selector }
})

const PUBLISH = "\nPublish the DNS records, and then run `ops senders verify"

const create = changing({
  about:
    "Create the sender of an organization or of one of its programs, with a DKIM key, and print the DNS records to publish",
  examples: ['ops senders create --organization org_… --from "Acme Health <outreach@acme.example>" --ramp 200,400,800'],
  input: {
    organizationId,
    programId: optional(flag(ProgramId, "The program's id, pgm_… (default: all programs without a separate sender)")),
    from,
    replyTo: optional(flag(replyTo, "The address for replies (default: the From address)")),
    dkimDomain: optional(flag(DomainName, "The domain that signs (default that of the From address)")),
    bounceDomain: optional(
      flag(DomainName, "The domain of the return paths, such as bounces.acme.example (default BOUNCE_DOMAIN)"),
    ),
    linkDomain: optional(flag(DomainName, `${linkDomain} (default that of PUBLIC_BASE_URL)`)),
    ramp: optional(flag(Ramp, "Daily limits of the first sending days (UTC), such as 200,400,800 (default no limit)")),
    key: keyFlags,
  },
  *run({ key, ...input }) {
    return yield* describeSender(
      yield* addSender(input, yield* newKey(key), linkHostOf((yield* linkTarget).publicBaseUrl)),
    )
  },
  format: (sender) => formatSender(sender),
  note: ({ id }) => `${PUBLISH} ${id}\`: nothing is sent in this name before.`,
})

const list = reading({
  about:
    "List the senders with the selectors that sign and the day of their ramp, oldest first, of one organization or all",
  input: { organizationId: optional(organizationId) },
  *run({ organizationId }) {
    const senders = yield* SenderRepository.use(({ list }) => list(organizationId))
    const json = (yield* Output) === "json"
    return senders.map(({ keys, ...sender }) => ({
      ...sender,
      from: formatFrom(sender),
      selectors: keys.filter(({ isSigning }) => isSigning).map(({ selector }) => selector),
      ramp: json ? sender.ramp : describeRamp(sender.ramp),
    }))
  },
  columns: [
    "id",
    "organizationId",
    "programId",
    "from",
    "dkimDomain",
    "selectors",
    "bounceDomain",
    "linkDomain",
    "liveSince",
    "ramp",
  ],
})

const show = reading({
  about: "Show a sender, what each of its DKIM keys does, and the DNS records that it needs",
  input: { senderId },
  run: ({ senderId }) =>
    Effect.flatMap(
      SenderRepository.use(({ find }) => find(senderId)),
      describeSender,
    ),
  format: (sender) => formatSender(sender),
})

const verify = changing({
  about:
    "Check a sender's DNS records and its link domain over https. If all are correct, the newest key signs, links use the domain, and the sender is live",
  input: { senderId, dnsServer },
  *run({ senderId, dnsServer }) {
    const { checkSender } = yield* Effect.promise(() => import("../senders/checkSender.ts"))
    const { sender, verified, checks } = yield* verifySender(senderId, checkSender(dnsServer))
    if ((yield* Output) !== "table") return { ...verified, checks }
    const { linkDomain } = sender
    const isNew = sender.liveSince === null || sender.keys.some(({ signsFrom }) => signsFrom === null)
    yield* printToStderr(
      isNew
        ? "\nWithin a minute, every worker sends in this name and signs with the newest key."
        : linkDomain !== null && sender.linkDomainVerifiedAt === null
          ? `\nWithin a minute, links stand on ${linkDomain}.`
          : "\nThe DNS records are right.",
    )
    return undefined
  },
})

const update = changing({
  about:
    "Change a sender, but not its DKIM domain. A live sender gets a new domain only after its DNS records were found",
  examples: ["ops senders update snd_… --link-domain click.acme.example"],
  input: {
    senderId,
    changes: {
      from: optional(from),
      replyTo: optional(
        flag(
          Effect.map(replyTo, (schema) => noneOr(schema)),
          "The address for replies, or none for the From address",
        ),
      ),
      bounceDomain: optional(flag(noneOr(DomainName), "The domain of the return paths, or none for BOUNCE_DOMAIN")),
      linkDomain: optional(flag(noneOr(DomainName), `${linkDomain}, or none for that of PUBLIC_BASE_URL`)),
      ramp: optional(
        flag(
          noneOr(Ramp),
          "Restart the ramp with these daily limits, such as 200,400,800 (UTC days with e-mails), or none to end it",
        ),
      ),
    },
    dnsServer,
  },
  *run({ senderId, changes, dnsServer }) {
    const { checkSender } = yield* Effect.promise(() => import("../senders/checkSender.ts"))
    const options = { linkHost: linkHostOf((yield* linkTarget).publicBaseUrl), lookUp: checkSender(dnsServer) }
    return yield* describeSender(yield* updateSender(senderId, changes, options))
  },
  format: (sender) => formatSender(sender),
  note: ({ id, liveSince, linkDomain, linkDomainVerifiedAt }) =>
    liveSince === null || (linkDomain !== null && linkDomainVerifiedAt === null)
      ? `${PUBLISH} ${id}\`.`
      : "\nThe change counts within a minute.",
})

const rotateDkim = changing({
  about: "Add the next DKIM key, replacing one that isn't in use yet, and print its DNS record",
  input: { senderId, key: keyFlags },
  *run({ senderId, key }) {
    return yield* describeSender(yield* addSenderKey(senderId, yield* newKey(key)))
  },
  format: (sender) => formatSender(sender),
  note: ({ id }) =>
    `${PUBLISH} ${id}\`. From then on both keys sign, the older one for ${DKIM_OVERLAP_DAYS} days. Leave its record published for ${DKIM_RECORD_DAYS} days more.`,
})

const remove = changing({
  about: "Remove a sender and its DKIM keys permanently. Requires confirmation or --yes",
  input: { senderId, yes },
  *run({ senderId, yes }) {
    const senders = yield* SenderRepository
    const { organizationId, programId, fromAddress } = yield* senders.find(senderId)
    const fallback = programId === null ? "the deployment's sender" : "the organization's sender, or the deployment's"
    yield* confirm(
      `remove the sender ${senderId} (${fromAddress}) and its DKIM keys for good, which leaves its e-mails to ${fallback}`,
      { yes },
    )
    yield* senders.remove(senderId)
    return { id: senderId, organizationId, programId, removed: true }
  },
})

export const senders = group({
  about: "In whose name e-mails are sent, and the DKIM keys that sign them",
  commands: { create, list, show, update, verify, "rotate-dkim": rotateDkim, remove },
  services: senderRepository,
})
