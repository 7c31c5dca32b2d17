import { DomainName, isAscii } from "@outreach/domain/DomainName"
import { ProgramId, SenderId } from "@outreach/domain/Identifier"
import { LinkDomainRepository } from "@outreach/domain/senders/LinkDomainRepository"
import { Ramp } from "@outreach/domain/senders/Ramp"
import { DKIM_OVERLAP_DAYS, DKIM_RECORD_DAYS, domainOf } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { activateSender, addSender, addSenderKey, updateSender } from "@outreach/domain/senders/Senders"
import { noneOr } from "@outreach/domain/textSchema"
import { createResolver } from "@outreach/mail/createResolver"
import { Clock, Effect, Schema } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { changing, group, reading } from "../Declaration.ts"
import { dnsServer, organizationId } from "../inputs/filters.ts"
import { argument, flag, optional, text, type Values } from "../inputs/Input.ts"
import { confirm, Output, printToStderr, refuse, yes } from "../output/Output.ts"
import { senderRepository } from "../secretCipher.ts"
import { describeSender, formatMailbox, formatRamp, formatSender } from "../senders/formatSender.ts"
import { linkTarget } from "../senders/linkTarget.ts"

// Loaded when a flag is given, because they load libraries.
const senderMailbox = Effect.promise(async () => (await import("@outreach/mail/mailFrom")).senderMailbox)
// Otherwise its header would need SMTPUTF8 on every server.
const asciiAddress = Effect.promise(async () => {
  const { EmailAddress } = await import("@outreach/domain/recipients/EmailAddress")
  return EmailAddress.check(Schema.makeFilter(isAscii)).annotate({ expected: "an e-mail address in ASCII" })
})

const senderId = argument(SenderId, "The sender's id, snd_…")

/** A label of a domain name, or several. */
const Selector = Schema.String.check(
  Schema.isPattern(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i),
).annotate({ expected: "a selector, such as s2026" })

const from = flag(senderMailbox, "Who the e-mails come from, such as 'Acme Health <outreach@acme.example>'")

const keyFlags = {
  selector: optional(flag(Selector, "The selector of the key (default the date and four random digits)")),
  dkimKey: optional(text("The file of an RSA key that signs (default a new key)", "file")),
}

const linkDomain = "The domain of tracked links and pages to unsubscribe, such as click.acme.example"

/** Refuses the host of the deployment as a link domain, where nothing but links would be served. */
const refuseOwnHost = Effect.fnUntraced(function* (domain: string | null | undefined) {
  if (domain != null && domain === (yield* linkTarget).linkHost) {
    return yield* refuse("LinkDomainUnusable", `The link domain ${domain} is the host of PUBLIC_BASE_URL.`, { domain })
  }
})

const newSelector = Effect.gen(function* () {
  const date = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10).replaceAll("-", "")
  const uuid = yield* SecureRandom.SecureRandom.use((random) => random.uuidV7())
  return `s${date}-${uuid.slice(-4)}`
})

const newKey = Effect.fnUntraced(function* ({ selector, dkimKey }: Values<typeof keyFlags>) {
  const { dkimKeyPair } = yield* Effect.promise(() => import("../senders/dkimKeyPair.ts"))
  return { ...(yield* dkimKeyPair(dkimKey)), selector: selector ?? (yield* newSelector) }
})

const PUBLISH = "\nPublish the DNS records, and then run `ops senders verify"

const add = changing({
  about:
    "Add the sender of an organization or of one of its programs, with a DKIM key, and print the DNS records to publish",
  input: {
    organizationId,
    programId: optional(flag(ProgramId, "The program's id, pgm_… (default all programs that have none of their own)")),
    from,
    replyTo: optional(flag(asciiAddress, "Where replies go (default the From address)")),
    dkimDomain: optional(flag(DomainName, "The domain that signs (default that of the From address)")),
    bounceDomain: optional(
      flag(DomainName, "The domain of the return paths, such as bounces.acme.example (default BOUNCE_DOMAIN)"),
    ),
    linkDomain: optional(flag(DomainName, `${linkDomain} (default that of PUBLIC_BASE_URL)`)),
    ramp: optional(
      flag(
        Ramp,
        "The most messages on each of the first days of UTC on which it sends, such as 200,400,800 (default any number)",
      ),
    ),
    key: keyFlags,
  },
  *run({ from, key, ...input }) {
    yield* refuseOwnHost(input.linkDomain)
    const sender = yield* addSender(
      {
        ...{ programId: null, replyTo: null, bounceDomain: null, ramp: null, dkimDomain: domainOf(from.address) },
        ...input,
        fromName: from.name,
        fromAddress: from.address,
      },
      yield* newKey(key),
    )
    return yield* describeSender(sender)
  },
  format: (sender) => formatSender(sender),
  note: ({ id }) => `${PUBLISH} ${id}\`: nothing is sent in this name before.`,
})

const list = reading({
  about:
    "List the senders with the selectors that sign and the day of their ramp, oldest first; of one organization or of all",
  input: { organizationId: optional(organizationId) },
  *run({ organizationId }) {
    const senders = yield* SenderRepository.use(({ list }) => list(organizationId))
    const { json } = yield* Output
    return senders.map(({ keys, ...sender }) => ({
      ...sender,
      from: formatMailbox(sender.fromName, sender.fromAddress),
      selectors: keys.filter(({ isSigning }) => isSigning).map(({ selector }) => selector),
      ramp: json ? sender.ramp : formatRamp(sender.ramp),
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
    "Look up a sender's DNS records, and whether this deployment answers over https at its link domain. If nothing is missing or wrong, its newest key signs from now on, links stand on the domain, and the sender is live",
  input: { senderId, dnsServer },
  *run({ senderId, dnsServer }) {
    const sender = yield* SenderRepository.use(({ find }) => find(senderId))
    const { checkSender } = yield* Effect.promise(() => import("../senders/checkSender.ts"))
    const { organizationId, linkDomain } = sender
    if (linkDomain !== null) {
      yield* LinkDomainRepository.use(({ beginVerification }) => beginVerification(organizationId, linkDomain))
    }
    const checks = yield* checkSender(sender, resolverOf(dnsServer), linkDomain)
    const verified = yield* activateSender(sender)
    if ((yield* Output).json) return { ...verified, checks }
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

const resolverOf = (dnsServer: string | undefined) => createResolver(dnsServer === undefined ? [] : [dnsServer])

const update = changing({
  about:
    "Change a sender; another DKIM domain needs another sender. A live one gets another domain only once its DNS records are found",
  input: {
    senderId,
    changes: {
      from: optional(from),
      replyTo: optional(
        flag(
          Effect.map(asciiAddress, (schema) => noneOr(schema)),
          "Where replies go, or none for the From address",
        ),
      ),
      bounceDomain: optional(flag(noneOr(DomainName), "The domain of the return paths, or none for BOUNCE_DOMAIN")),
      linkDomain: optional(flag(noneOr(DomainName), `${linkDomain}, or none for that of PUBLIC_BASE_URL`)),
      ramp: optional(
        flag(
          noneOr(Ramp),
          "The most messages on each of the next days of UTC on which it sends, beginning anew, or none for any number",
        ),
      ),
    },
    dnsServer,
  },
  *run({ senderId, changes: { from, ...changes }, dnsServer }) {
    yield* refuseOwnHost(changes.linkDomain)
    const { checkSender } = yield* Effect.promise(() => import("../senders/checkSender.ts"))
    const updated = yield* updateSender(
      senderId,
      { ...changes, ...(from && { fromName: from.name, fromAddress: from.address }) },
      (changed) => checkSender(changed, resolverOf(dnsServer)),
    )
    return yield* describeSender(updated)
  },
  format: (sender) => formatSender(sender),
  note: ({ id, liveSince, linkDomain, linkDomainVerifiedAt }) =>
    liveSince === null || (linkDomain !== null && linkDomainVerifiedAt === null)
      ? `${PUBLISH} ${id}\`.`
      : "\nThe change counts within a minute.",
})

const rotateDkim = changing({
  about:
    "Add the DKIM key that will follow the one that signs, in place of one that signs nothing yet, and print its DNS record",
  input: { senderId, key: keyFlags },
  *run({ senderId, key }) {
    return yield* describeSender(yield* addSenderKey(senderId, yield* newKey(key)))
  },
  format: (sender) => formatSender(sender),
  note: ({ id }) =>
    `${PUBLISH} ${id}\`. From then on both keys sign, the older one for ${DKIM_OVERLAP_DAYS} days. Leave its record published for ${DKIM_RECORD_DAYS} days more.`,
})

const remove = changing({
  about: "Remove a sender and its DKIM keys for good. Asks first, or needs --yes",
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

const linkDomains = reading({
  about:
    "List the domains that serve links, also those that no sender names any more, by name; of one organization or of all",
  input: { organizationId: optional(organizationId) },
  run: ({ organizationId }) => LinkDomainRepository.use(({ list }) => list(organizationId)),
  columns: ["domain", "organizationId", "createdAt", "verifiedAt"],
})

const removeLinkDomain = changing({
  about:
    "Remove a link domain that no sender names: links that were sent with it lead nowhere once its certificate ends. Asks first, or needs --yes",
  input: { domain: argument(DomainName, "The domain, such as click.acme.example"), yes },
  *run({ domain, yes }) {
    yield* confirm(`remove the link domain ${domain}, with which links in sent e-mails end`, { yes })
    return { ...(yield* LinkDomainRepository.use(({ remove }) => remove(domain))), removed: true }
  },
})

export const senders = group({
  about: "In whose name e-mails are sent, and the DKIM keys that sign them",
  commands: {
    ...{ add, list, show, verify, update, "rotate-dkim": rotateDkim, remove },
    ...{ "link-domains": linkDomains, "remove-link-domain": removeLinkDomain },
  },
  services: senderRepository,
})
