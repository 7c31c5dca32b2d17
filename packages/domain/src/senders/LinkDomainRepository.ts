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

/** An organization's domain for links. It stays after its senders are removed, because sent e-mails contain its links. */
export const LinkDomain = Schema.Struct({
  domain: Schema.String,
  organizationId: OrganizationId,
  createdAt: Timestamp,
  /** Null until it is verified; it isn't served until then. */
  verifiedAt: Schema.NullOr(Timestamp),
})
export type LinkDomain = typeof LinkDomain.Type

/** Minutes after the start of its verification in which an unverified domain may get a certificate. */
export const VERIFYING_MINUTES = 60

/** Stores link domains. Each belongs to one organization. Senders add theirs. */
export class LinkDomainRepository extends Context.Service<
  LinkDomainRepository,
  {
    /** Reads the domains that are verified or being verified. */
    readServed(): Effect.Effect<ReadonlyArray<Pick<LinkDomain, "domain" | "organizationId">>>
    /** Lists domains of one organization or all by name. */
    list(organizationId?: OrganizationId): Effect.Effect<ReadonlyArray<LinkDomain>>
    /** Serves a domain for `VERIFYING_MINUTES`, so that it can be verified. */
    beginVerification(organizationId: OrganizationId, domain: string): Effect.Effect<void>
    verify(organizationId: OrganizationId, domain: string): Effect.Effect<void>
    /** Removes a domain without senders. */
    remove(domain: string): Effect.Effect<LinkDomain, LinkDomainNotFound | LinkDomainInUse>
  }
>()("domain/senders/LinkDomainRepository") {}
