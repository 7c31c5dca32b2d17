import { Clock, Context, Effect, Schema } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { DescribedError } from "../DescribedError.ts"
import { isAscii } from "../DomainName.ts"
import { type CampaignId, createIdentifier, type OrganizationId, type SenderId } from "../Identifier.ts"
import type { Finding } from "../operators/Finding.ts"
import type { OrganizationNotFound } from "../organizations/Organization.ts"
import type { ProgramNotFound } from "../programs/Programs.ts"
import { EmailAddress } from "../recipients/Clinician.ts"
import { Transaction } from "../Transaction.ts"
import { LinkDomainRepository, type LinkDomainTaken } from "./LinkDomainRepository.ts"
import {
  type DkimKeyPair,
  domainOf,
  isAligned,
  type Mailbox,
  type Ramp,
  type Sender,
  type SenderIdentity,
} from "./Sender.ts"

export class SenderNotFound extends DescribedError("SenderNotFound", "No sender {senderId}.") {}

export class SenderExists extends DescribedError(
  "SenderExists",
  "{of} has the sender {senderId} already; change it, or remove it first.",
) {}

export class SelectorTaken extends DescribedError(
  "SelectorTaken",
  "The sender has a DKIM key with the selector {selector} already; the next key needs another one.",
) {}

export class SenderKeyUnreadable extends DescribedError(
  "SenderKeyUnreadable",
  "A DKIM key of the sender {senderId} cannot be read: no key of SECRETS_KEY opens it, or it is damaged.",
) {}

type NewSender = Omit<
  Sender,
  "liveSince" | "ramp" | "keys" | "linkDomain" | "linkDomainVerifiedAt" | "createdAt" | "updatedAt"
> & {
  readonly linkDomain?: string | null
  readonly ramp?: Ramp | null
}

/** Changeable fields of a sender. The DKIM domain can't change, because its keys are published there. */
type SenderChanges = Partial<Pick<Sender, "fromName" | "fromAddress" | "replyTo" | "bounceDomain" | "linkDomain">> & {
  /** Starts with its first day, keeping today's count of an earlier ramp; null removes the ramp. */
  readonly ramp?: Ramp | null
}

/** A key that doesn't sign yet. */
export interface NewDkimKey extends DkimKeyPair {
  readonly selector: string
}

/** Stores senders with their encrypted keys. Only `add`, `addKey` and `identityOf` need the encryption key. */
export class SenderRepository extends Context.Service<
  SenderRepository,
  {
    /** Adds a sender with its first key. It isn't live before `activate`. */
    add(
      sender: NewSender,
      key: NewDkimKey,
    ): Effect.Effect<Sender, OrganizationNotFound | ProgramNotFound | SenderExists | LinkDomainTaken>
    find(senderId: SenderId): Effect.Effect<Sender, SenderNotFound>
    /** Lists senders of one organization or all, oldest first. */
    list(organizationId?: OrganizationId): Effect.Effect<ReadonlyArray<Sender>>
    update(senderId: SenderId, changes: SenderChanges): Effect.Effect<Sender, SenderNotFound | LinkDomainTaken>
    remove(senderId: SenderId): Effect.Effect<void, SenderNotFound>
    /** Adds the successor of the signing key. Replaces one that doesn't sign yet. */
    addKey(senderId: SenderId, key: NewDkimKey): Effect.Effect<Sender, SenderNotFound | SelectorTaken>
    /**
     * Activates the newest key and the sender. The key before it signs for `DKIM_OVERLAP_DAYS` more, earlier ones stop.
     *
     * Deletes keys that are over.
     */
    activate(senderId: SenderId): Effect.Effect<Sender, SenderNotFound>
    /** Reads the current sender of a campaign; null for the deployment's. */
    ofCampaign(campaignId: CampaignId): Effect.Effect<Sender | null>
    /** Same with the signing keys. */
    identityOf(campaignId: CampaignId): Effect.Effect<SenderIdentity | null, SenderKeyUnreadable>
  }
>()("domain/senders/SenderRepository") {}

/** Address for replies. Non-ASCII letters would require SMTPUTF8 on every server. */
export const ReplyTo = EmailAddress.check(Schema.makeFilter(isAscii)).annotate({
  expected: "an e-mail address in ASCII",
})

export class SenderNotAligned extends DescribedError(
  "SenderNotAligned",
  "The {role} {domain} is not aligned with the From domain {fromDomain}: it must be the same, or one above or below it, so that it counts for DMARC.",
) {}

export class LinkDomainUnusable extends DescribedError(
  "LinkDomainUnusable",
  "The link domain {domain} is also {use}, but a name with a CNAME record can't be used for anything more. Choose a name such as click.{domain}.",
) {}

export class SenderNotVerified extends DescribedError(
  "SenderNotVerified",
  ({ senderId, checks }: { readonly senderId: string; readonly checks: ReadonlyArray<Finding> }) => {
    const failed = checks.filter(({ status }) => status === "failed")
    const count = `${failed.length} ${failed.length === 1 ? "check" : "checks"} of ${checks.length}`
    const faults = failed.map(({ found, advice }) => `${found} ${advice}`)
    return [`${count} failed for ${senderId}; nothing was changed.`, ...faults].join(" ")
  },
) {}

/** A sender to add. Default: the organization's own, signing with its From domain. */
type SenderRequest = Pick<NewSender, "organizationId"> &
  Partial<Pick<NewSender, "programId" | "replyTo" | "dkimDomain" | "bounceDomain" | "linkDomain" | "ramp">> & {
    readonly from: Mailbox
  }

/** A sender's key; the selector is generated if none is given. */
type KeyRequest = DkimKeyPair & { readonly selector?: string | undefined }

/** Looks up a sender's DNS records, and whether this deployment serves a link domain. */
type LookUp<E, R> = (sender: Sender, linkDomain: string | null) => Effect.Effect<ReadonlyArray<Finding>, E, R>

/** Adds a sender with its first key. `linkHost` is the host of the deployment's own links, which serves only them. */
export const addSender = Effect.fn("Senders.add")(function* (
  { from, ...request }: SenderRequest,
  key: KeyRequest,
  linkHost: string | null,
) {
  const sender: NewSender = {
    ...{ programId: null, replyTo: null, bounceDomain: null, linkDomain: null, ramp: null },
    dkimDomain: domainOf(from.address),
    ...request,
    ...{ fromName: from.name, fromAddress: from.address, id: yield* createIdentifier("sender") },
  }
  yield* checkDomains(sender, linkHost)
  return yield* (yield* Transaction).run((yield* SenderRepository).add(sender, yield* withSelector(key)))
})

export const addSenderKey = Effect.fn("Senders.addKey")(function* (senderId: SenderId, key: KeyRequest) {
  return yield* (yield* Transaction).run((yield* SenderRepository).addKey(senderId, yield* withSelector(key)))
})

/** Generates a selector from the date and four random digits, unless one is given. */
const withSelector = Effect.fnUntraced(function* (key: KeyRequest) {
  const date = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10).replaceAll("-", "")
  const uuid = yield* SecureRandom.SecureRandom.use((random) => random.uuidV7())
  return { ...key, selector: key.selector ?? `s${date}-${uuid.slice(-4)}` }
})

/**
 * Activates a sender, its newest key and its link domain, if `lookUp` finds no fault. Also returns the sender's earlier state
 * and the findings.
 */
export const verifySender = Effect.fn("Senders.verify")(function* <E, R>(senderId: SenderId, lookUp: LookUp<E, R>) {
  const senders = yield* SenderRepository
  const domains = yield* LinkDomainRepository
  const sender = yield* senders.find(senderId)
  const { organizationId, linkDomain } = sender
  if (linkDomain !== null) yield* domains.beginVerification(organizationId, linkDomain)
  const checks = yield* passing(sender, lookUp(sender, linkDomain))
  const verify = linkDomain === null ? Effect.void : domains.verify(organizationId, linkDomain)
  const verified = yield* (yield* Transaction).run(Effect.andThen(verify, senders.activate(senderId)))
  return { sender, verified, checks }
})

const passing = Effect.fnUntraced(function* <A extends Finding, E, R>(
  { id: senderId }: Pick<Sender, "id">,
  looking: Effect.Effect<ReadonlyArray<A>, E, R>,
) {
  const checks = yield* looking
  if (checks.some(({ status }) => status === "failed")) return yield* new SenderNotVerified({ senderId, checks })
  return checks
})

/**
 * Changes a sender. If a live one gets another domain, `lookUp` checks the DNS records first, and a fault prevents the change.
 *
 * Another link domain isn't checked, because it is used only after its verification.
 */
export const updateSender = Effect.fn("Senders.update")(function* <E, R>(
  senderId: SenderId,
  { from, ...others }: Omit<SenderChanges, "fromName" | "fromAddress"> & { readonly from?: Mailbox },
  { linkHost, lookUp }: { readonly linkHost: string | null; readonly lookUp: LookUp<E, R> },
) {
  const changes = { ...others, ...(from && { fromName: from.name, fromAddress: from.address }) }
  const senders = yield* SenderRepository
  const sender = yield* senders.find(senderId)
  const changed = { ...sender, ...changes, ramp: sender.ramp }
  yield* checkDomains(changed, linkHost)
  if (sender.liveSince !== null && hasNewDomain(sender, changed)) yield* passing(sender, lookUp(changed, null))
  return yield* (yield* Transaction).run(senders.update(senderId, changes))
})

const hasNewDomain = (sender: Sender, changed: Sender): boolean =>
  domainOf(changed.fromAddress) !== domainOf(sender.fromAddress) ||
  (changed.bounceDomain !== null && changed.bounceDomain !== sender.bounceDomain)

const checkDomains = Effect.fnUntraced(function* (
  {
    fromAddress,
    dkimDomain,
    bounceDomain,
    linkDomain = null,
  }: Pick<NewSender, "fromAddress" | "dkimDomain" | "bounceDomain" | "linkDomain">,
  linkHost: string | null,
) {
  const fromDomain = domainOf(fromAddress)
  if (!isAligned(dkimDomain, fromDomain)) {
    return yield* new SenderNotAligned({ role: "DKIM domain", domain: dkimDomain, fromDomain })
  }
  if (bounceDomain !== null && !isAligned(bounceDomain, fromDomain)) {
    return yield* new SenderNotAligned({ role: "bounce domain", domain: bounceDomain, fromDomain })
  }
  if (linkDomain === null) return
  const taken = { [bounceDomain ?? ""]: "the bounce domain", [fromDomain]: "the From domain" }
  const use = linkDomain === linkHost ? "the host of PUBLIC_BASE_URL" : taken[linkDomain]
  if (use !== undefined) return yield* new LinkDomainUnusable({ domain: linkDomain, use })
})
