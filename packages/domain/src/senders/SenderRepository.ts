import { Context, type Effect } from "effect"
import { DescribedError } from "../DescribedError.ts"
import type { CampaignId, OrganizationId, SenderId } from "../Identifier.ts"
import type { OrganizationNotFound } from "../organizations/Organization.ts"
import type { ProgramNotFound } from "../programs/ProgramRepository.ts"
import type { LinkDomainTaken } from "./LinkDomainRepository.ts"
import type { Ramp } from "./Ramp.ts"
import type { DkimKeyPair, Sender, SenderIdentity, SenderWithKeys } from "./Sender.ts"

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

export type NewSender = Omit<
  Sender,
  "liveSince" | "ramp" | "linkDomain" | "linkDomainVerifiedAt" | "createdAt" | "updatedAt"
> & {
  readonly linkDomain?: string | null
  readonly ramp?: Ramp | null
}

/** What may change of a sender. Its DKIM domain stays, because its keys are published there. */
export type SenderChanges = Partial<
  Pick<Sender, "fromName" | "fromAddress" | "replyTo" | "bounceDomain" | "linkDomain">
> & {
  /** Begins with its first day, on which what the ramp before has counted today is counted on; null takes the ramp away. */
  readonly ramp?: Ramp | null
}

/** A key that signs nothing yet. */
export interface NewDkimKey extends DkimKeyPair {
  readonly selector: string
}

/** Keeps senders, and their keys encrypted. Only `add`, `addKey` and `identityOf` need the key that encrypts them. */
export class SenderRepository extends Context.Service<
  SenderRepository,
  {
    /** Adds a sender with its first key. It is not live before `activate`. */
    add(
      sender: NewSender,
      key: NewDkimKey,
    ): Effect.Effect<SenderWithKeys, OrganizationNotFound | ProgramNotFound | SenderExists | LinkDomainTaken>
    find(senderId: SenderId): Effect.Effect<SenderWithKeys, SenderNotFound>
    /** Lists senders, oldest first; of one organization or of all. */
    list(organizationId?: OrganizationId): Effect.Effect<ReadonlyArray<SenderWithKeys>>
    update(senderId: SenderId, changes: SenderChanges): Effect.Effect<SenderWithKeys, SenderNotFound | LinkDomainTaken>
    remove(senderId: SenderId): Effect.Effect<void, SenderNotFound>
    /** Adds the key that will follow the one that signs. It takes the place of one that signs nothing yet. */
    addKey(senderId: SenderId, key: NewDkimKey): Effect.Effect<SenderWithKeys, SenderNotFound | SelectorTaken>
    /**
     * Lets the newest key sign, and the sender go live. The key before it signs for `DKIM_OVERLAP_DAYS` more, and those before it no longer.
     *
     * Keys that are over are deleted.
     */
    activate(senderId: SenderId): Effect.Effect<SenderWithKeys, SenderNotFound>
    /** Reads in whose name a campaign's e-mails are sent now; null for the deployment's. */
    ofCampaign(campaignId: CampaignId): Effect.Effect<Sender | null>
    /** Reads the same with the keys that sign. */
    identityOf(campaignId: CampaignId): Effect.Effect<SenderIdentity | null, SenderKeyUnreadable>
  }
>()("domain/senders/SenderRepository") {}
