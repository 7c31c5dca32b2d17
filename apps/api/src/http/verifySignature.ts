import { coalesce } from "@outreach/domain/coalesce"
import { type EndpointOwner, SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import type { EndpointId, OrganizationId, SecretId } from "@outreach/domain/Identifier"
import { SignatureError, verify } from "@outreach/signature/node"
import { Clock, Effect, Redacted } from "effect"
import { RequestError } from "./toErrorResponse.ts"

/** Who signed a webhook, with which secret, and to which of its endpoints it came. */
export interface WebhookSender {
  readonly organizationId: OrganizationId
  readonly endpointId: EndpointId
  /** The newest active secret that it was signed with. */
  readonly secretId: SecretId
}

interface Known {
  readonly readAt: number
  /** Undefined when there is no such endpoint. */
  readonly owner: EndpointOwner | undefined
}

/** How long secrets are taken from memory, so that a webhook costs the database the one statement that stores it. */
const REMEMBER_MS = 10_000
/** Endpoints whose secrets are remembered, the latest ones. */
const MAX_REMEMBERED = 10_000
/** Endpoints whose secrets are read together. */
const MAX_READ = 32
const INVALID_SIGNATURE = RequestError.InvalidSignature()
/** The specification's tolerance, either way. */
const TOLERANCE_SECONDS = 300

/**
 * Creates the functions that recognise the sender of a webhook: by its endpoint, before the body is read, and by its signature over the
 * bytes of the body.
 *
 * What no remembered secret verifies has the secrets read again before it is refused, because a 401 is not tried again: a new
 * secret holds from its commit on. One that was withdrawn holds until it is forgotten.
 */
export const createSignatureVerifier = Effect.gen(function* () {
  const secrets = yield* SigningSecretRepository
  const known = new Map<EndpointId, Known>()

  // One reading after the other, each for all requests that wait: forged signatures cause no more than one at a time.
  const read = yield* coalesce(
    MAX_READ,
    Effect.fnUntraced(function* (endpointIds: ReadonlyArray<EndpointId>) {
      const readAt = yield* Clock.currentTimeMillis
      yield* Effect.forEach(
        new Set(endpointIds),
        (endpointId) =>
          Effect.map(secrets.ofEndpoint(endpointId), (owner) => {
            known.delete(endpointId)
            if (known.size >= MAX_REMEMBERED) known.delete(known.keys().next().value!)
            known.set(endpointId, { readAt, owner })
          }),
        { concurrency: "unbounded", discard: true },
      )
      return endpointIds.map((endpointId) => known.get(endpointId)!)
    }),
  )

  const remembered = (endpointId: EndpointId, now: number): Known | undefined => {
    const entry = known.get(endpointId)
    return entry !== undefined && now - entry.readAt < REMEMBER_MS ? entry : undefined
  }

  /** Returns whose endpoint it is. Refuses an unknown endpoint as it refuses a bad signature. */
  const findOwner = Effect.fnUntraced(function* (endpointId: EndpointId) {
    const owner = remembered(endpointId, yield* Clock.currentTimeMillis)?.owner ?? (yield* read(endpointId)).owner
    return owner?.organizationId ?? (yield* Effect.fail(INVALID_SIGNATURE))
  })

  const verifySignature = Effect.fnUntraced(function* (
    endpointId: EndpointId,
    header: string | undefined,
    body: Uint8Array,
  ) {
    const now = yield* Clock.currentTimeMillis
    let entry = remembered(endpointId, now)
    let secretId = entry && findSecret(header, body, entry, now)
    if (secretId === undefined) {
      entry = yield* read(endpointId)
      secretId = findSecret(header, body, entry, now)
    }
    if (entry?.owner === undefined || secretId === undefined) return yield* Effect.fail(INVALID_SIGNATURE)
    const { organizationId } = entry.owner
    return { organizationId, endpointId, secretId } satisfies WebhookSender
  })

  return { findOwner, verifySignature }
})

const findSecret = (
  header: string | undefined,
  body: Uint8Array,
  { owner }: Known,
  now: number,
): SecretId | undefined => {
  const secrets = owner?.secrets.filter(({ expiresAt }) => expiresAt === null || now < expiresAt) ?? []
  if (secrets.length === 0) return undefined
  try {
    const { secretIndex } = verify(
      header,
      body,
      secrets.map(({ secret }) => Redacted.value(secret)),
      { now: now / 1000, tolerance: TOLERANCE_SECONDS },
    )
    return secrets[secretIndex]!.id
  } catch (error) {
    if (error instanceof SignatureError) return undefined
    throw error
  }
}
