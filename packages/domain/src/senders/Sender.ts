import { type Redacted, Schema } from "effect"
import { DkimKeyId, OrganizationId, ProgramId, SenderId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

// Glossary. Selector: the label under which a domain publishes a DKIM key (RFC 6376, 3.1). Aligned: equal to the From domain, or one
// above or below it, so that a signature or SPF counts for DMARC (RFC 7489, 3.1). Live: used for sending e-mails.
// Link domain: the domain of tracked links and unsubscribe pages, default that of PUBLIC_BASE_URL.
// Ramp: maximum messages per day at first, so that mail servers get to know the sender (warm-up).

/** Longer than any recommended warm-up. */
const MAX_DAYS = 90
const MAX_MESSAGES = 10_000_000

/**
 * Maximum messages of a new sender on each of its first days, such as `200,400,800`; unlimited afterwards.
 *
 * Only UTC days on which the sender sends count.
 */
export const Ramp = Schema.String.check(
  Schema.makeFilter((text) => {
    if (!/^\d{1,8}(,\d{1,8})*$/.test(text)) return false
    const days = text.split(",").map(Number)
    return days.length <= MAX_DAYS && days.every((most, i) => most >= (days[i - 1] ?? 1) && most <= MAX_MESSAGES)
  }),
).pipe(
  Schema.annotate({
    expected: `a ramp such as 200,400,800: at most ${MAX_DAYS} whole numbers from 1 to ${MAX_MESSAGES}, none of them smaller than the one before`,
  }),
)
export type Ramp = typeof Ramp.Type

/** A sender's position in its ramp today (UTC). */
export const RampState = Schema.Struct({
  daily: Ramp,
  /** Day of the ramp; one more than its last if it is over. */
  day: Schema.Int,
  /** Messages leased today; null if the ramp is over. */
  sentToday: Schema.NullOr(Schema.Int),
  /** Null if the ramp is over. */
  allowedToday: Schema.NullOr(Schema.Int),
})
export type RampState = typeof RampState.Type

/** Describes a sender's ramp, as in `day 2 of 3: 120 of 400 sent`; null without one. */
export const describeRamp = (ramp: RampState | null): string | null => {
  if (ramp === null) return null
  const { sentToday, allowedToday } = ramp
  const days = ramp.daily.split(",").length
  if (sentToday === null || allowedToday === null) return `over, after ${days} days`
  const next = sentToday < allowedToday ? "" : ", the next at 00:00 UTC"
  return `day ${ramp.day} of ${days}: ${sentToday} of ${allowedToday} sent${next}`
}

/** A sender's key without the private part. */
export const DkimKey = Schema.Struct({
  id: DkimKeyId,
  selector: Schema.String,
  /** SPKI in base64, as in its DNS record. */
  publicKey: Schema.String,
  createdAt: Timestamp,
  /** Since when it signs; null until its DNS record is found. */
  signsFrom: Schema.NullOr(Timestamp),
  /** Until when it also signs after the next key was activated; null if there is none. */
  signsUntil: Schema.NullOr(Timestamp),
  isSigning: Schema.Boolean,
  /** Its DNS record may be removed: no message signed with it is in transit. */
  isOver: Schema.Boolean,
})
export type DkimKey = typeof DkimKey.Type

/** The sender identity of an organization's or a program's e-mails. */
export const Sender = Schema.Struct({
  organizationId: OrganizationId,
  id: SenderId,
  /** Null for the organization's own; a program's sender takes precedence. */
  programId: Schema.NullOr(ProgramId),
  fromName: Schema.String,
  fromAddress: Schema.String,
  replyTo: Schema.NullOr(Schema.String),
  dkimDomain: Schema.String,
  /** Domain of the return paths; null for the deployment's. */
  bounceDomain: Schema.NullOr(Schema.String),
  /** Domain of the tracked links; null for the deployment's. */
  linkDomain: Schema.NullOr(Schema.String),
  /** Since when the domain is verified and used for links. Null before, and without one. */
  linkDomainVerifiedAt: Schema.NullOr(Timestamp),
  /** Since when it is used for sending, after its DNS records were found. Null before. */
  liveSince: Schema.NullOr(Timestamp),
  ramp: Schema.NullOr(RampState),
  /** Newest first. */
  keys: Schema.Array(DkimKey),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type Sender = typeof Sender.Type

/** Describes the state of a key. */
export const dkimKeyState = ({ signsFrom, signsUntil, isSigning, isOver }: DkimKey): string => {
  if (signsFrom === null) return "pending"
  if (isSigning) return signsUntil === null ? "signing" : "signing alongside the next"
  return isOver ? "over" : "signs no more, its record is still needed"
}

export interface DkimKeyPair {
  /** SPKI in base64. */
  readonly publicKey: string
  /** PKCS#8 in PEM. */
  readonly privateKey: Redacted.Redacted
}

/** A name and an address (RFC 5322, 3.4). */
export interface Mailbox {
  /** Empty for an address without a name. */
  readonly name: string
  readonly address: string
}

/** Formats a sender as in `Acme <outreach@acme.example>`; names with special characters are quoted (RFC 5322, 3.4). */
export const formatFrom = ({ fromName, fromAddress }: Pick<Sender, "fromName" | "fromAddress">): string => {
  const name = /[()<>[\]:;@\\,"]/.test(fromName) ? `"${fromName.replaceAll(/["\\]/g, "\\$&")}"` : fromName
  return name === "" ? fromAddress : `${name} <${fromAddress}>`
}

/** One or several domain-name labels: the name of a key. */
export const Selector = Schema.String.check(
  Schema.isPattern(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i),
).annotate({ expected: "a selector, such as s2026" })

/** Sender and signing keys of a message (RFC 6376). */
export interface SenderIdentity extends Pick<Sender, "replyTo" | "bounceDomain"> {
  /** Null unless it is verified. */
  readonly linkDomain: string | null
  /** Null for the deployment's own sender. */
  readonly id: SenderId | null
  readonly from: Mailbox
  /** Each key makes a separate signature. Null for unsigned messages. */
  readonly dkim: {
    readonly domain: string
    readonly keys: ReadonlyArray<{ readonly selector: string; readonly privateKey: Redacted.Redacted }>
  } | null
}

/** Returns whether a sender, its newest key or its link domain isn't used until it is verified. */
export const isToBeVerified = ({ liveSince, keys, linkDomain, linkDomainVerifiedAt }: Sender): boolean =>
  liveSince === null ||
  keys.some(({ signsFrom }) => signsFrom === null) ||
  (linkDomain !== null && linkDomainVerifiedAt === null)

/** Returns the domain of a sender's links; null for the deployment's. */
export const verifiedLinkDomain = (sender: Pick<Sender, "linkDomain" | "linkDomainVerifiedAt">): string | null =>
  sender.linkDomainVerifiedAt === null ? null : sender.linkDomain

/** Days in which an older key also signs after the next one was activated. */
export const DKIM_OVERLAP_DAYS = 2

/** Days after a key's last signature in which its DNS record is needed: mail servers' delivery period, with a margin. */
export const DKIM_RECORD_DAYS = 7

export const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1).toLowerCase()

/** Returns whether two domains are aligned (relaxed), judging only by their names. */
export const isAligned = (domain: string, from: string): boolean =>
  domain === from || domain.endsWith(`.${from}`) || (from.endsWith(`.${domain}`) && domain.includes("."))
