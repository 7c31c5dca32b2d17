import { Context, type Effect, Schema } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { OrganizationId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

export class LinkDomainTaken extends DescribedError(
  "LinkDomainTaken",
  "The link domain {domain} belongs to the organization {organizationId}.",
) {}

export class LinkDomainNotFound extends DescribedError("LinkDomainNotFound", "No link domain {domain}.") {}

export class LinkDomainInUse extends DescribedError(
  "LinkDomainInUse",
  "The sender {senderId} uses the link domain {domain}; give it another one first.",
) {}

/** A domain of an organization under which its links are served, also when no sender names it any more: sent e-mails do. */
export const LinkDomain = Schema.Struct({
  domain: Schema.String,
  organizationId: OrganizationId,
  createdAt: Timestamp,
  /** Null while it was not verified; nothing is served under it then. */
  verifiedAt: Schema.NullOr(Timestamp),
})
export type LinkDomain = typeof LinkDomain.Type

/** For how many minutes an unverified domain may get a certificate, counted from the beginning of its verification. */
export const VERIFYING_MINUTES = 60

/** Keeps link domains. Each belongs to one organization. Senders add theirs. */
export class LinkDomainRepository extends Context.Service<
  LinkDomainRepository,
  {
    /** Reads the domains that are served, or are being verified. */
    readServed(): Effect.Effect<ReadonlyArray<Pick<LinkDomain, "domain" | "organizationId">>>
    /** Lists domains by name; of one organization or of all. */
    list(organizationId?: OrganizationId): Effect.Effect<ReadonlyArray<LinkDomain>>
    /** Lets a domain be served for `VERIFYING_MINUTES`, so that it can be verified. */
    beginVerification(organizationId: OrganizationId, domain: string): Effect.Effect<void>
    verify(organizationId: OrganizationId, domain: string): Effect.Effect<void>
    /** Removes a domain that no sender names. */
    remove(domain: string): Effect.Effect<LinkDomain, LinkDomainNotFound | LinkDomainInUse>
  }
>()("domain/senders/LinkDomainRepository") {}
