import { Context, Effect, Layer, Result } from "effect"
import { Hex } from "effect/encoding"
import { TrackingSeal } from "../../hits/TrackingLinks.ts"
import { PREFIXES, type RecipientId } from "../../Identifier.ts"

/**
 * Creates and reads the addresses that receive mail about one message: bounces (variable envelope return path) and
 * unsubscribe requests.
 *
 * They contain the recipient, the key's mark and a seal, in characters that mail servers don't fold or quote. They are valid as
 * long as the ring contains the key. Seals of the two kinds aren't interchangeable.
 */
export class ReturnPaths extends Context.Service<
  ReturnPaths,
  {
    /** Creates the return path at a domain; default: the deployment's. */
    of(recipientId: RecipientId, domain?: string): string
    /** Creates the recipient's unsubscribe address, at the same domains. */
    unsubscribe(recipientId: RecipientId, domain?: string): string
    /** Returns the recipient; undefined for an address of another deployment. Ignores the domain. Case may have changed in transit. */
    read(address: string): RecipientId | undefined
    /** Returns the recipient of an unsubscribe address in the same way. */
    readUnsubscribe(address: string): RecipientId | undefined
    /** Returns whether complaints may be sent to an address: one of the registered names, at any domain. */
    isForComplaints(address: string): boolean
    /** Parses only the local part, as included in a message header. */
    readLocalPart(localPart: string): RecipientId | undefined
  }
>()("domain/mail/returned/ReturnPaths") {
  /** Provides return paths at the domain that the worker receives mail for. */
  static readonly at = (domain: string) =>
    Layer.effect(
      ReturnPaths,
      Effect.map(TrackingSeal, (seal) => make(domain.toLowerCase(), seal)),
    )
}

/** Complaint addresses at each return-path domain: names of RFC 2142, and common names for feedback loops. */
const COMPLAINTS = /^(abuse|complaints|fbl)@[^@]+$/i

/** Seal bytes in an address: 64 bits keep the local part within 63 of its 64 characters. */
const SEAL_BYTES = 8

/** Prefix of each kind's local part, and additional input of its seal. No tracked link starts with these bytes. */
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
        // The seal decides, not the domain: senders' domains can be added any time, and removed ones still receive bounces.
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
