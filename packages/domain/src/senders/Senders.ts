import { Effect } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { createIdentifier, type SenderId } from "../Identifier.ts"
import { Transaction } from "../Transaction.ts"
import { LinkDomainRepository } from "./LinkDomainRepository.ts"
import { domainOf, isAligned, type Sender, type SenderWithKeys } from "./Sender.ts"
import { type NewDkimKey, type NewSender, type SenderChanges, SenderRepository } from "./SenderRepository.ts"

export class SenderNotAligned extends DescribedError(
  "SenderNotAligned",
  "The {role} {domain} is not aligned with the From domain {fromDomain}: it must be the same, or one above or below it, so that it counts for DMARC.",
) {}

export class LinkDomainUnusable extends DescribedError(
  "LinkDomainUnusable",
  "The link domain {domain} is also {use}, and a name with a CNAME record can have no other use; take one such as click.{domain}.",
) {}

export const addSender = Effect.fn("Senders.add")(function* (sender: Omit<NewSender, "id">, key: NewDkimKey) {
  yield* checkDomains(sender)
  const added = { ...sender, id: yield* createIdentifier("sender") }
  return yield* (yield* Transaction).run((yield* SenderRepository).add(added, key))
})

export const addSenderKey = Effect.fn("Senders.addKey")(function* (senderId: SenderId, key: NewDkimKey) {
  return yield* (yield* Transaction).run((yield* SenderRepository).addKey(senderId, key))
})

/** Lets the sender whose DNS records were found go live, and its newest key sign. Its link domain is verified. */
export const activateSender = Effect.fn("Senders.activate")(function* ({
  id,
  organizationId,
  linkDomain,
}: Pick<Sender, "id" | "organizationId" | "linkDomain">) {
  const domains = yield* LinkDomainRepository
  const senders = yield* SenderRepository
  const verified = linkDomain === null ? Effect.void : domains.verify(organizationId, linkDomain)
  return yield* (yield* Transaction).run(Effect.andThen(verified, senders.activate(id)))
})

/**
 * Changes a sender. Of a live one, `verify` looks up the DNS records first when it gets another domain, and fails if one is missing or wrong.
 *
 * Another link domain needs none, because links are made with it only once it is verified.
 */
export const updateSender = Effect.fn("Senders.update")(function* <E, R>(
  senderId: SenderId,
  changes: SenderChanges,
  verify: (changed: SenderWithKeys) => Effect.Effect<unknown, E, R>,
) {
  const senders = yield* SenderRepository
  const sender = yield* senders.find(senderId)
  const changed = { ...sender, ...changes, ramp: sender.ramp }
  yield* checkDomains(changed)
  if (sender.liveSince !== null && hasNewDomain(sender, changed)) yield* verify(changed)
  return yield* (yield* Transaction).run(senders.update(senderId, changes))
})

const hasNewDomain = (sender: Sender, changed: Sender): boolean =>
  domainOf(changed.fromAddress) !== domainOf(sender.fromAddress) ||
  (changed.bounceDomain !== null && changed.bounceDomain !== sender.bounceDomain)

const checkDomains = Effect.fnUntraced(function* ({
  fromAddress,
  dkimDomain,
  bounceDomain,
  linkDomain = null,
}: Pick<NewSender, "fromAddress" | "dkimDomain" | "bounceDomain" | "linkDomain">) {
  const fromDomain = domainOf(fromAddress)
  if (!isAligned(dkimDomain, fromDomain)) {
    return yield* new SenderNotAligned({ role: "DKIM domain", domain: dkimDomain, fromDomain })
  }
  if (bounceDomain !== null && !isAligned(bounceDomain, fromDomain)) {
    return yield* new SenderNotAligned({ role: "bounce domain", domain: bounceDomain, fromDomain })
  }
  if (linkDomain === null) return
  if (linkDomain === bounceDomain)
    return yield* new LinkDomainUnusable({ domain: linkDomain, use: "the bounce domain" })
  if (linkDomain === fromDomain) return yield* new LinkDomainUnusable({ domain: linkDomain, use: "the From domain" })
})
