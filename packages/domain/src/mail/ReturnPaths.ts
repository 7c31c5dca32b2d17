import { Context, Effect, Layer, Result } from "effect"
import { Hex } from "effect/encoding"
import { TrackingSeal } from "../hits/TrackingLinks.ts"
import { PREFIXES, type RecipientId } from "../Identifier.ts"

/**
 * Creates the addresses to which mail about one message comes back, and reads them again: its bounces (a variable envelope return path), and
 * a request to unsubscribe.
 *
 * They hold the recipient, the mark of the key and a seal, in characters that no mail server folds or quotes. They are valid for as
 * long as the ring holds the key. The seal of one kind is not good for the other.
 */
export class ReturnPaths extends Context.Service<
  ReturnPaths,
  {
    /** Creates the address at a domain; default the deployment's. */
    of(recipientId: RecipientId, domain?: string): string
    /** Creates the address that unsubscribes the recipient, at the same domains. */
    unsubscribe(recipientId: RecipientId, domain?: string): string
    /** Returns the recipient; undefined for an address that this deployment did not make. The domain does not matter. Letters may have changed their case on the way. */
    read(address: string): RecipientId | undefined
    /** Returns the recipient whom an address unsubscribes, in the same way. */
    readUnsubscribe(address: string): RecipientId | undefined
    /** Reports whether complaints may be sent to an address: one of the names that providers are given, at any domain. */
    isForComplaints(address: string): boolean
    /** Reads the local part alone, as messages carry it in a header of their own. */
    readLocalPart(localPart: string): RecipientId | undefined
  }
>()("domain/mail/ReturnPaths") {
  /** Offers return paths at the domain whose mail reaches the worker. */
  static readonly at = (domain: string) =>
    Layer.effect(
      ReturnPaths,
      Effect.map(TrackingSeal, (seal) => make(domain.toLowerCase(), seal)),
    )
}

/** Where complaints are sent at each domain of return paths: the names of RFC 2142, and those that are common for feedback loops. */
const COMPLAINTS = /^(abuse|complaints|fbl)@[^@]+$/i

/** The bytes of a seal that an address holds: 64 bits leave the local part at most 63 of its 64 characters. */
const SEAL_BYTES = 8

/** What the local part of each kind begins with, and what its seal is made of beside the recipient. No tracked link begins with these bytes. */
const KINDS = {
  bounce: "return path",
  unsubscribe: "unsubscribe",
} as const

const make = (defaultDomain: string, { mark, seal, isSealed }: TrackingSeal["Service"]): ReturnPaths["Service"] => {
  const newestMark = Hex.encode(Uint8Array.of(mark))
  const ofKind = (kind: keyof typeof KINDS) => {
    const pattern = new RegExp(`^${kind}-([0-9a-f]{32})-([0-9a-f]{2})([0-9a-f]{16})$`)
    const sealedBytes = (markHex: string, id: string): Uint8Array =>
      new TextEncoder().encode(`${KINDS[kind]} ${markHex}${id}`)
    const readLocalPart = (localPart: string): RecipientId | undefined => {
      const [, id, foundMark, sealHex] = pattern.exec(localPart.toLowerCase()) ?? []
      if (id === undefined || foundMark === undefined || sealHex === undefined) return undefined
      const found = Result.getOrThrow(Hex.decode(foundMark))[0]!
      return isSealed(sealedBytes(foundMark, id), Result.getOrThrow(Hex.decode(sealHex)), found)
        ? (`${PREFIXES.recipient}_${id}` as RecipientId)
        : undefined
    }
    return {
      of: (recipientId: RecipientId, domain = defaultDomain): string => {
        const id = recipientId.slice(recipientId.indexOf("_") + 1)
        const sealHex = Hex.encode(seal(sealedBytes(newestMark, id)).subarray(0, SEAL_BYTES))
        return `${kind}-${id}-${newestMark}${sealHex}@${domain}`
      },
      read: (address: string): RecipientId | undefined => {
        // The seal decides, and not the domain: a sender may get one at any time, and one that is gone still receives bounces.
        const at = address.lastIndexOf("@")
        return at > 0 && at < address.length - 1 ? readLocalPart(address.slice(0, at)) : undefined
      },
      readLocalPart,
    }
  }
  const unsubscribe = ofKind("unsubscribe")
  return {
    ...ofKind("bounce"),
    unsubscribe: unsubscribe.of,
    readUnsubscribe: unsubscribe.read,
    isForComplaints: (address) => COMPLAINTS.test(address),
  }
}
