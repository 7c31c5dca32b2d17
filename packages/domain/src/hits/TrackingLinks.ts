import { Context, Effect, Layer, Result } from "effect"
import { Base64Url, Hex } from "effect/encoding"
import { type OrganizationId, PREFIXES, type RecipientId } from "../Identifier.ts"

/** Seals the content of tracked links against forgery; a port because the keys belong to the deployment. */
export class TrackingSeal extends Context.Service<
  TrackingSeal,
  {
    /** Mark of the newest key, stored with its seals. */
    readonly mark: number
    /** Creates a 16-byte seal with the newest key. All processes of the deployment create the same seal for the same bytes. */
    seal(bytes: Uint8Array): Uint8Array
    /**
     * Returns whether one of the deployment's keys sealed the bytes; the mark selects the keys to try. Constant-time comparison.
     *
     * The seal may be truncated to a length that doesn't depend on the input.
     */
    isSealed(bytes: Uint8Array, seal: Uint8Array, mark: number): boolean
  }
>()("domain/hits/TrackingSeal") {}

export interface RecipientRef {
  readonly organizationId: OrganizationId
  readonly recipientId: RecipientId
}

/** Kinds of links in a message, with their paths below the public base URL. */
export const TRACKING_PATHS = { click: "/l/", open: "/o/", unsubscribe: "/unsubscribe/" } as const

export type TrackingKind = keyof typeof TRACKING_PATHS

/** Content of a link with a valid seal; only a click has a destination. */
export interface TrackedLink extends RecipientRef {
  readonly destination: string | null
}

// Also the version: other payload formats use other numbers, so that links of old messages stay valid forever.
const KIND_BYTES = { click: 1, open: 2, unsubscribe: 3 } as const
const ID_BYTES = 16
/** The ids follow the kind and the key's mark. */
const IDS_BEGIN = 2
const IDS_END = IDS_BEGIN + 2 * ID_BYTES
const SEAL_BYTES = 16

/** Maximum length of a destination in bytes: encoded, it leaves space in a request line for scanners' additions. */
const MAX_DESTINATION_LENGTH = 2048

interface Links {
  /** Creates a tracked link to a destination; undefined unless it is an http or https URL of at most 2,048 bytes. */
  click(to: RecipientRef, destination: string): string | undefined
  /** Creates the URL of the open-tracking pixel. */
  open(to: RecipientRef): string
  /** Creates the unsubscribe URL: the page for people, and the target of RFC 8058's POST. */
  unsubscribe(to: RecipientRef): string
  /** Creates links of the same kinds below a sender's domain. */
  at(domain: string): Links
  /** Parses the part after a kind's path; undefined for links of other deployments. */
  read(kind: TrackingKind, payload: string): TrackedLink | undefined
}

/**
 * Creates and parses the tracked links of a message.
 *
 * A link contains its data: kind, key's mark, organization, recipient and destination, sealed and base64url-encoded. No data
 * is stored, so links of all messages stay valid while the ring contains the key, and forged destinations aren't followed.
 */
export class TrackingLinks extends Context.Service<TrackingLinks, Links>()("domain/hits/TrackingLinks") {
  /** Provides links below the API's public base URL without trailing slash. */
  static readonly below = (publicBaseUrl: string) =>
    Layer.effect(
      TrackingLinks,
      Effect.map(TrackingSeal, (seal) => make(publicBaseUrl, seal)),
    )
}

/** Returns the base of links below a sender's domain: https, and the port of the public base URL, because the same proxy serves both. */
export const linkBaseUrl = (domain: string, publicBaseUrl: string | null): string => {
  const { protocol, port } = URL.parse(publicBaseUrl ?? "") ?? {}
  return `https://${domain}${protocol === "https:" && port ? `:${port}` : ""}`
}

const make = (publicBaseUrl: string, sealing: TrackingSeal["Service"]): Links => {
  const { mark, seal, isSealed } = sealing
  const linkOf = (kind: TrackingKind, { organizationId, recipientId }: RecipientRef, destination = ""): string => {
    const bytes = utf8.encode(destination)
    const payload = new Uint8Array(IDS_END + bytes.length + SEAL_BYTES)
    payload.set([KIND_BYTES[kind], mark])
    payload.set(bytesOf(organizationId), IDS_BEGIN)
    payload.set(bytesOf(recipientId), IDS_BEGIN + ID_BYTES)
    payload.set(bytes, IDS_END)
    payload.set(seal(payload.subarray(0, -SEAL_BYTES)), payload.length - SEAL_BYTES)
    return publicBaseUrl + TRACKING_PATHS[kind] + Base64Url.encode(payload)
  }

  return {
    click: (to, destination) => {
      const url = URL.parse(destination)?.href
      return url !== undefined && /^https?:/.test(url) && url.length <= MAX_DESTINATION_LENGTH
        ? linkOf("click", to, url)
        : undefined
    },
    open: (to) => linkOf("open", to),
    unsubscribe: (to) => linkOf("unsubscribe", to),
    at: (domain) => make(linkBaseUrl(domain, publicBaseUrl), sealing),
    read: (kind, text) => {
      const payload = Result.getOrUndefined(Base64Url.decode(text))
      // The last character has unused bits, and padding may follow: only our own encoding of the bytes is valid.
      if (payload === undefined || Base64Url.encode(payload) !== text) return undefined
      if (payload[0] !== KIND_BYTES[kind] || payload.length < IDS_END + SEAL_BYTES) return undefined
      const sealed = payload.subarray(0, -SEAL_BYTES)
      if (!isSealed(sealed, payload.subarray(-SEAL_BYTES), payload[1]!)) return undefined
      const organization = Hex.encode(sealed.subarray(IDS_BEGIN, IDS_BEGIN + ID_BYTES))
      const recipient = Hex.encode(sealed.subarray(IDS_BEGIN + ID_BYTES, IDS_END))
      return {
        organizationId: `${PREFIXES.organization}_${organization}` as OrganizationId,
        recipientId: `${PREFIXES.recipient}_${recipient}` as RecipientId,
        destination: kind === "click" ? new TextDecoder().decode(sealed.subarray(IDS_END)) : null,
      }
    },
  }
}

const utf8 = new TextEncoder()

const bytesOf = (id: string): Uint8Array => Result.getOrThrow(Hex.decode(id.slice(id.indexOf("_") + 1)))

/** Path under which a link domain proves that this deployment serves it, followed by a challenge. */
export const LINK_DOMAIN_PROOF_PATH = "/.well-known/outreach-link-domain/"

/** A challenge, new for each proof: 16 to 48 bytes in base64url. */
export const isLinkDomainChallenge = (text: string): boolean => /^[\w-]{22,64}$/.test(text)

// No tracked link or return path starts with these bytes, so that seals aren't interchangeable.
const sealedBytes = (domain: string, challenge: string): Uint8Array =>
  new TextEncoder().encode(`link domain ${domain} ${challenge}`)

/** Proves that a request for a domain reached this deployment: the key's mark and a seal of domain and challenge, in base64url. */
export const proveLinkDomain = ({ mark, seal }: TrackingSeal["Service"], domain: string, challenge: string): string =>
  Base64Url.encode(Uint8Array.of(mark, ...seal(sealedBytes(domain, challenge))))

/** Returns whether text is this deployment's proof for a domain and a challenge. */
export const isLinkDomainProof = (
  { isSealed }: TrackingSeal["Service"],
  proof: string,
  { domain, challenge }: { readonly domain: string; readonly challenge: string },
): boolean => {
  const bytes = Result.getOrUndefined(Base64Url.decode(proof))
  return bytes?.length === 17 && isSealed(sealedBytes(domain, challenge), bytes.subarray(1), bytes[0]!)
}
