import { Context, Effect, Layer, Result } from "effect"
import { Base64Url, Hex } from "effect/encoding"
import { type OrganizationId, PREFIXES, type RecipientId } from "../Identifier.ts"

/** Seals what stands in a tracked link, so that nobody else can make one; a port because the keys are the deployment's. */
export class TrackingSeal extends Context.Service<
  TrackingSeal,
  {
    /** The mark of the newest key, which stands beside its seals. */
    readonly mark: number
    /** Creates a seal of 16 bytes with the newest key; the same bytes have the same seal in every process of the deployment. */
    seal(bytes: Uint8Array): Uint8Array
    /**
     * Reports whether a key of the deployment sealed the bytes; the mark says which keys to try. Compares in constant time.
     *
     * The seal may be cut, to a length that does not depend on the text that is read.
     */
    isSealed(bytes: Uint8Array, seal: Uint8Array, mark: number): boolean
  }
>()("domain/hits/TrackingSeal") {}

export interface RecipientRef {
  readonly organizationId: OrganizationId
  readonly recipientId: RecipientId
}

/** The kinds of link that a message carries, and the path of each below the public base URL. */
export const TRACKING_PATHS = { click: "/l/", open: "/o/", unsubscribe: "/unsubscribe/" } as const

export type TrackingKind = keyof typeof TRACKING_PATHS

/** What a link says once its seal was found good; only a click leads anywhere. */
export interface TrackedLink extends RecipientRef {
  readonly destination: string | null
}

// Also the version: another form of payload takes other numbers, so that links of old messages are read for ever.
const KIND_BYTES = { click: 1, open: 2, unsubscribe: 3 } as const
const ID_BYTES = 16
/** The ids follow the kind and the mark of the key. */
const IDS_BEGIN = 2
const IDS_END = IDS_BEGIN + 2 * ID_BYTES
const SEAL_BYTES = 16

/** The longest destination that a link takes, in bytes: encoded, it leaves space in a request's line for what scanners wrap around it. */
const MAX_DESTINATION_LENGTH = 2048

interface Links {
  /** Creates the link that leads to a destination by way of us; undefined for what is not an http or https address, or is longer than 2,048 bytes. */
  click(to: RecipientRef, destination: string): string | undefined
  /** Creates the address of the pixel that shows an opening. */
  open(to: RecipientRef): string
  /** Creates the address that takes an unsubscription: of the page for people, and of the POST of RFC 8058. */
  unsubscribe(to: RecipientRef): string
  /** Creates links of the same kinds below a domain of a sender. */
  at(domain: string): Links
  /** Reads the part after a kind's path; undefined for what this deployment did not make. */
  read(kind: TrackingKind, payload: string): TrackedLink | undefined
}

/**
 * Creates the tracked links of a message, and reads them again.
 *
 * A link is its own record: kind, mark of the key, organization, recipient and destination, sealed and in base64url. Nothing is
 * stored, so that the links of every message stay good while the ring holds the key, and an address that we did not put into a message leads nowhere.
 */
export class TrackingLinks extends Context.Service<TrackingLinks, Links>()("domain/hits/TrackingLinks") {
  /** Offers links below the API's public base URL, which has no slash at its end. */
  static readonly below = (publicBaseUrl: string) =>
    Layer.effect(
      TrackingLinks,
      Effect.map(TrackingSeal, (seal) => make(publicBaseUrl, seal)),
    )
}

/** Returns what links below a domain of a sender begin with: https, and the port of the public base URL, because the same proxy serves both. */
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
      // The last character has bits to spare, and padding may follow: of all texts for the same bytes, ours alone is good.
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
