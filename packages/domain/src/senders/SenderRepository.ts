import { Context, type Effect } from "effect"
import { DescribedError } from "../DescribedError.ts"
import type { CampaignId, OrganizationId, SenderId } from "../Identifier.ts"
import type { OrganizationNotFound } from "../organizations/Organization.ts"
import type { ProgramNotFound } from "../programs/ProgramRepository.ts"
import type { LinkDomainTaken } from "./LinkDomainRepository.ts"
import type { Ramp } from "./Ramp.ts"
import type { DkimKeyPair, Sender, SenderIdentity } from "./Sender.ts"

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
  "liveSince" | "ramp" | "keys" | "linkDomain" | "linkDomainVerifiedAt" | "createdAt" | "updatedAt"
> & {
  readonly linkDomain?: string | null
  readonly ramp?: Ramp | null
}

/** Changeable fields of a sender. The DKIM domain can't change, because its keys are published there. */
export type SenderChanges = Partial<
  Pick<Sender, "fromName" | "fromAddress" | "replyTo" | "bounceDomain" | "linkDomain">
> & {
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
