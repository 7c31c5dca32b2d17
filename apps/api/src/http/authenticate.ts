import type { LeasedSecret } from "@outreach/domain/deliveries/Delivery"
import { SecretVault } from "@outreach/domain/deliveries/SecretVault"
import type { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { SignatureError, verify } from "@outreach/signature/node"
import { Clock, Effect, Redacted } from "effect"
import type { Refusal } from "./refuse.ts"

/** Who signed a webhook, and to which of its endpoints it came. */
export interface Sender {
  readonly organizationId: OrganizationId
  readonly endpointId: EndpointId
}

interface Known {
  readonly readAt: number
  /** Undefined when there is no such endpoint. */
  readonly owner: { readonly organizationId: OrganizationId; readonly secrets: ReadonlyArray<LeasedSecret> } | undefined
}

/** How long secrets are taken from memory, so that a webhook costs the database the one statement that stores it. */
const REMEMBER_MS = 10_000
/** How old remembered secrets must be for a signature that they do not verify to have them read again: a rotation shows at once. */
const RECHECK_MS = 1000
/** Endpoints whose secrets are remembered, the latest ones. */
const MOST_REMEMBERED = 10_000
/** The specification's tolerance, either way. */
const TOLERANCE_SECONDS = 300

/** Makes the function that recognises the sender of a webhook by its signature over the bytes of the body. */
export const makeAuthenticate = Effect.gen(function* () {
  const vault = yield* SecretVault
  const known = new Map<EndpointId, Known>()

  const read = Effect.fnUntraced(function* (endpointId: EndpointId, now: number) {
    const entry: Known = { readAt: now, owner: yield* vault.ofEndpoint(endpointId) }
    if (known.size >= MOST_REMEMBERED) known.delete(known.keys().next().value!)
    known.delete(endpointId)
    known.set(endpointId, entry)
    return entry
  })

  return Effect.fnUntraced(function* (endpointId: EndpointId, header: string | undefined, body: Uint8Array) {
    const now = yield* Clock.currentTimeMillis
    const remembered = known.get(endpointId)
    const first =
      remembered !== undefined && now - remembered.readAt < REMEMBER_MS ? remembered : yield* read(endpointId, now)
    if (isSigned(header, body, first, now)) return { organizationId: first.owner!.organizationId, endpointId }
    if (now - first.readAt >= RECHECK_MS) {
      const again = yield* read(endpointId, now)
      if (isSigned(header, body, again, now)) return { organizationId: again.owner!.organizationId, endpointId }
    }
    return yield* Effect.fail<Refusal>({ reason: "invalid signature" })
  })
})

const isSigned = (header: string | undefined, body: Uint8Array, { owner }: Known, now: number): boolean => {
  const secrets = owner?.secrets.filter(({ expiresAt }) => expiresAt === null || now < expiresAt) ?? []
  if (secrets.length === 0) return false
  try {
    verify(
      header,
      body,
      secrets.map(({ secret }) => Redacted.value(secret)),
      { now: now / 1000, tolerance: TOLERANCE_SECONDS },
    )
    return true
  } catch (error) {
    if (error instanceof SignatureError) return false
    throw error
  }
}
