import { Context, Effect, Layer, Result } from "effect"
import { Hex } from "effect/encoding"
import { TrackingSeal } from "../hits/TrackingLinks.ts"
import { PREFIXES, type RecipientId } from "../Identifier.ts"

/**
 * Creates the address to which the bounces of one message come back (a variable envelope return path), and reads it again.
 *
 * It holds the recipient, the mark of the key and a seal, in characters that no mail server folds or quotes. It is valid for as
 * long as the ring holds the key.
 */
export class ReturnPaths extends Context.Service<
  ReturnPaths,
  {
    /** Creates the address at a domain; default the deployment's. */
    of(recipientId: RecipientId, domain?: string): string
    /** Returns the recipient; undefined for an address that this deployment did not make. The domain does not matter. Letters may have changed their case on the way. */
    read(address: string): RecipientId | undefined
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

/** The bytes of a seal that a return path holds: 64 bits leave the local part 58 of its 64 characters. */
const SEAL_BYTES = 8

const LOCAL_PART = /^bounce-([0-9a-f]{32})-([0-9a-f]{2})([0-9a-f]{16})$/

const make = (defaultDomain: string, { mark, seal, isSealed }: TrackingSeal["Service"]): ReturnPaths["Service"] => {
  const markHex = Hex.encode(Uint8Array.of(mark))
  const readLocalPart = (localPart: string): RecipientId | undefined => {
    const [, id, foundMark, sealHex] = LOCAL_PART.exec(localPart.toLowerCase()) ?? []
    if (id === undefined || foundMark === undefined || sealHex === undefined) return undefined
    const found = Result.getOrThrow(Hex.decode(foundMark))[0]!
    return isSealed(sealedBytes(foundMark, id), Result.getOrThrow(Hex.decode(sealHex)), found)
      ? (`${PREFIXES.recipient}_${id}` as RecipientId)
      : undefined
  }
  return {
    of: (recipientId, domain = defaultDomain) => {
      const id = recipientId.slice(recipientId.indexOf("_") + 1)
      const sealHex = Hex.encode(seal(sealedBytes(markHex, id)).subarray(0, SEAL_BYTES))
      return `bounce-${id}-${markHex}${sealHex}@${domain}`
    },
    read: (address) => {
      // The seal decides, and not the domain: a sender may get one at any time, and one that is gone still receives bounces.
      const at = address.lastIndexOf("@")
      return at > 0 && at < address.length - 1 ? readLocalPart(address.slice(0, at)) : undefined
    },
    isForComplaints: (address) => COMPLAINTS.test(address),
    readLocalPart,
  }
}

// No tracked link begins with these bytes, so that neither seal is good for the other.
const sealedBytes = (markHex: string, id: string): Uint8Array => new TextEncoder().encode(`return path ${markHex}${id}`)
