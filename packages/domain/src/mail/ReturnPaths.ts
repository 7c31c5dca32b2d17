import { Context, Effect, Layer } from "effect"
import { Hex } from "effect/encoding"
import { TrackingSeal } from "../hits/TrackingLinks.ts"
import { PREFIXES, type RecipientId } from "../Identifier.ts"

/**
 * Creates the address to which the bounces of one message come back (a variable envelope return path), and reads it again.
 *
 * It holds the recipient and a seal, in characters that no mail server folds or quotes, and is valid for as long as the key is.
 */
export class ReturnPaths extends Context.Service<
  ReturnPaths,
  {
    of(recipientId: RecipientId): string
    /** Returns the recipient; undefined for whatever this deployment did not make. Letters may have changed their case on the way. */
    read(address: string): RecipientId | undefined
  }
>()("domain/mail/ReturnPaths") {
  /** Offers return paths at the domain whose mail reaches the worker. */
  static readonly at = (domain: string) =>
    Layer.effect(
      ReturnPaths,
      Effect.map(TrackingSeal, (seal) => make(domain.toLowerCase(), seal)),
    )
}

const make = (domain: string, { seal }: TrackingSeal["Service"]): ReturnPaths["Service"] => {
  // No tracked link begins with these bytes, so that neither seal is good for the other. 64 bits of it leave the local part 56 of its 64 characters.
  const sealOf = (id: string) => Hex.encode(seal(new TextEncoder().encode(`return path ${id}`)).subarray(0, 8))
  const addressOf = (id: string) => `bounce-${id}-${sealOf(id)}@${domain}`
  return {
    of: (recipientId) => addressOf(recipientId.slice(recipientId.indexOf("_") + 1)),
    read: (address) => {
      const said = address.toLowerCase()
      const id = /^bounce-([0-9a-f]{32})-/.exec(said)?.[1]
      return id !== undefined && isSame(addressOf(id), said)
        ? (`${PREFIXES.recipient}_${id}` as RecipientId)
        : undefined
    },
  }
}

// All of it, so that the time taken tells nobody how much of a guess was right.
const isSame = (a: string, b: string): boolean => {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i)
  return difference === 0
}
