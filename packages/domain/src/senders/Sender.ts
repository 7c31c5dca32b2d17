import { type Redacted, Schema } from "effect"
import { DkimKeyId, OrganizationId, ProgramId, SenderId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"
import { RampState } from "./Ramp.ts"

// Glossary. Selector: the label under which a domain publishes one of its DKIM keys (RFC 6376 3.1). Aligned: of the domain in From, or of one
// above or below it, so that a signature or SPF counts for DMARC (RFC 7489 3.1). Live: e-mails are sent in its name.
// Link domain: the domain of tracked links and pages to unsubscribe, by default that of PUBLIC_BASE_URL.
// Ramp: how many messages a day it may send at first, so that mail servers come to know it (warm-up).

/** In whose name the e-mails of an organization, or of one of its programs, are sent. */
export const Sender = Schema.Struct({
  organizationId: OrganizationId,
  id: SenderId,
  /** Null for the organization's own; the sender of a program takes precedence over it. */
  programId: Schema.NullOr(ProgramId),
  fromName: Schema.String,
  fromAddress: Schema.String,
  replyTo: Schema.NullOr(Schema.String),
  dkimDomain: Schema.String,
  /** The domain of the return paths; null for the deployment's. */
  bounceDomain: Schema.NullOr(Schema.String),
  /** The domain of the tracked links; null for the deployment's. */
  linkDomain: Schema.NullOr(Schema.String),
  /** Since when links are made with that domain: when it was verified. Null before, and without one. */
  linkDomainVerifiedAt: Schema.NullOr(Timestamp),
  /** Since when e-mails are sent in its name: when its DNS records were found. Null before. */
  liveSince: Schema.NullOr(Timestamp),
  ramp: Schema.NullOr(RampState),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type Sender = typeof Sender.Type

/** A key of a sender, without its private half. */
export const DkimKey = Schema.Struct({
  id: DkimKeyId,
  selector: Schema.String,
  /** SPKI, in base64, as its DNS record holds it. */
  publicKey: Schema.String,
  createdAt: Timestamp,
  /** Since when it signs; null while its DNS record was not found yet. */
  signsFrom: Schema.NullOr(Timestamp),
  /** Until when it signs beside the key that follows it; null if none does. */
  signsUntil: Schema.NullOr(Timestamp),
  isSigning: Schema.Boolean,
  /** Its DNS record may be removed: no message is under way that it has signed. */
  isOver: Schema.Boolean,
})
export type DkimKey = typeof DkimKey.Type

/** Says what a key does. */
export const dkimKeyState = ({ signsFrom, signsUntil, isSigning, isOver }: DkimKey): string => {
  if (signsFrom === null) return "pending"
  if (isSigning) return signsUntil === null ? "signing" : "signing beside the next"
  return isOver ? "over" : "signs no more, its record is still needed"
}

/** A sender with its keys, newest first. */
export interface SenderWithKeys extends Sender {
  readonly keys: ReadonlyArray<DkimKey>
}

export interface DkimKeyPair {
  /** SPKI, in base64. */
  readonly publicKey: string
  /** PKCS#8, in PEM. */
  readonly privateKey: Redacted.Redacted
}

/** A name and an address (RFC 5322 3.4). */
export interface Mailbox {
  /** Empty for the address alone. */
  readonly name: string
  readonly address: string
}

/** Formats a sender's name and address as in `Acme <outreach@acme.example>`; a name with other signs stands in quotes (RFC 5322 3.4). */
export const formatFrom = ({ fromName, fromAddress }: Pick<Sender, "fromName" | "fromAddress">): string => {
  const name = /[()<>[\]:;@\\,"]/.test(fromName) ? `"${fromName.replaceAll(/["\\]/g, "\\$&")}"` : fromName
  return name === "" ? fromAddress : `${name} <${fromAddress}>`
}

/** A label of a domain name, or several: the name of a key. */
export const Selector = Schema.String.check(
  Schema.isPattern(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i),
).annotate({ expected: "a selector, such as s2026" })

/** Who a message comes from, and how it is signed (RFC 6376). */
export interface SenderIdentity extends Pick<Sender, "replyTo" | "bounceDomain"> {
  /** Null unless it is verified. */
  readonly linkDomain: string | null
  /** Null for the deployment's own sender. */
  readonly id: SenderId | null
  readonly from: Mailbox
  /** Each key makes a signature of its own. Null for messages without a signature. */
  readonly dkim: {
    readonly domain: string
    readonly keys: ReadonlyArray<{ readonly selector: string; readonly privateKey: Redacted.Redacted }>
  } | null
}

/** Returns the domain with which a sender's links are made; null for the deployment's. */
export const verifiedLinkDomain = (sender: Pick<Sender, "linkDomain" | "linkDomainVerifiedAt">): string | null =>
  sender.linkDomainVerifiedAt === null ? null : sender.linkDomain

/** For how many days an older key signs beside the key that follows it. */
export const DKIM_OVERLAP_DAYS = 2

/** For how many days after its last signature the DNS record of a key is needed: as long as mail servers try to deliver a message, and some more. */
export const DKIM_RECORD_DAYS = 7

export const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1).toLowerCase()

/** Reports whether what one domain vouches for counts for the other under relaxed alignment, as far as names alone say. */
export const isAligned = (domain: string, from: string): boolean =>
  domain === from || domain.endsWith(`.${from}`) || (from.endsWith(`.${domain}`) && domain.includes("."))
