import type { IncomingMessage } from "node:http"
import { coalesce } from "@outreach/domain/coalesce"
import { type EndpointOwner, SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecrets"
import type { EndpointId, OrganizationId, SecretId } from "@outreach/domain/Identifier"
import {
  InboxRepository,
  SIGNATURE_FAULTS,
  type SignatureFault,
  type SignatureRejections,
} from "@outreach/domain/inbox/InboxRepository"
import { monotonicMs, readMonotonicMs } from "@outreach/domain/monotonicMs"
import { addressLimit } from "@outreach/process/addressLimit"
import { describeCause } from "@outreach/process/describeCause"
import { clientAddress } from "@outreach/process/trustProxy"
import { SignatureError, verify } from "@outreach/signature/node"
import { Clock, Duration, Effect, Exit, Redacted } from "effect"
import { ApiConfig } from "../ApiConfig.ts"
import { RequestError } from "./RequestError.ts"

/** The sender of a webhook, the matching secret, and the endpoint. */
export interface WebhookSender {
  readonly organizationId: OrganizationId
  readonly endpointId: EndpointId
  /** The newest active secret that matched. */
  readonly secretId: SecretId
}

type Known = EndpointOwner & { readonly readAt: number }

/** Lifetime of cached secrets, so that a webhook costs the database only the statement that stores it. */
const REMEMBER_MS = 10_000
/** Interval at which the verification of a webhook by a secret is recorded. */
const NOTED_EVERY_MS = 60_000
/** Interval at which rejections are stored. */
const STORE_REJECTIONS_EVERY = Duration.seconds(10)
/** Maximum number of endpoints per read. */
const MAX_READ = 32
/** Tolerance of the specification, in both directions. */
const TOLERANCE_SECONDS = 300

/**
 * Creates the functions that identify the sender of a webhook: by endpoint before the body is read, and by the signature of the
 * body.
 *
 * If no cached secret verifies the body, the secrets are read again before the webhook is rejected, because a 401 isn't retried. So a new
 * secret applies immediately; a revoked one applies until its cache entry expires.
 */
export const createSignatureVerifier = Effect.gen(function* () {
  const secrets = yield* SigningSecretRepository
  const { trustProxy, unauthenticatedLimit } = yield* ApiConfig
  /** Existing endpoints only, so that strangers can't fill it. */
  const known = new Map<EndpointId, Known>()
  const notedAt = new Map<SecretId, number>()
  const failures = addressLimit(unauthenticatedLimit)
  const countRejection = yield* createRejectionCounter
  const clock = yield* Clock.Clock

  // One statement at a time for all waiting requests: forged signatures don't cause more.
  const createReader = coalesce(
    MAX_READ,
    Effect.fnUntraced(function* (endpointIds: ReadonlyArray<EndpointId>) {
      const readAt = yield* readMonotonicMs
      for (const endpointId of new Set(endpointIds)) {
        const owner = yield* secrets.ofEndpoint(endpointId)
        if (owner === undefined) known.delete(endpointId)
        else known.set(endpointId, { ...owner, readAt })
      }
      return endpointIds.map((endpointId) => known.get(endpointId))
    }),
  )
  const readKnown = yield* createReader
  // Separate, so that known endpoints never wait for unknown ones.
  const readUnknown = yield* createReader

  const readAgain = (endpointId: EndpointId) => (known.has(endpointId) ? readKnown : readUnknown)(endpointId)

  const remembered = (endpointId: EndpointId): Known | undefined => {
    const entry = known.get(endpointId)
    return entry !== undefined && monotonicMs(clock) - entry.readAt < REMEMBER_MS ? entry : undefined
  }

  /**
   * Rejects unknown endpoints like invalid signatures.
   *
   * An address that used too many unknown endpoints must wait, because a new endpoint may not be known here yet.
   */
  const checkEndpoint = (endpointId: EndpointId, source: IncomingMessage): Effect.Effect<void, RequestError> =>
    remembered(endpointId) ? Effect.void : findEndpoint(endpointId, source)

  const findEndpoint = Effect.fnUntraced(function* (endpointId: EndpointId, source: IncomingMessage) {
    const now = clock.currentTimeMillisUnsafe()
    const address = () => clientAddress(source, trustProxy)
    if (!known.has(endpointId) && failures.wait(address, now / 1000) !== undefined) {
      return yield* Effect.fail(RequestError.Unavailable)
    }
    if ((yield* readAgain(endpointId)) !== undefined) return
    failures.countFailure(address(), now / 1000)
    return yield* Effect.fail(RequestError.InvalidSignature)
  })

  const verifySignature = (
    endpointId: EndpointId,
    header: string | undefined,
    body: Uint8Array,
  ): Effect.Effect<WebhookSender, RequestError> => {
    const identify = (entry: Known | undefined): Effect.Effect<WebhookSender, RequestError> | SignatureFault => {
      if (entry === undefined) return Effect.fail(RequestError.InvalidSignature)
      const match = findSecret(header, body, entry, clock.currentTimeMillisUnsafe())
      if (typeof match === "string") return match
      const { secretId } = match
      const sender = { organizationId: entry.organizationId, endpointId, secretId }
      const now = monotonicMs(clock)
      if (now - (notedAt.get(secretId) ?? Number.NEGATIVE_INFINITY) < NOTED_EVERY_MS) return Effect.succeed(sender)
      notedAt.set(secretId, now)
      return Effect.as(secrets.noteVerification(secretId), sender)
    }
    const entry = remembered(endpointId)
    const identified = entry && identify(entry)
    if (typeof identified === "object") return identified
    return Effect.flatMap(readAgain(endpointId), (entry) => {
      const identified = identify(entry)
      if (typeof identified !== "string") return identified
      countRejection({ endpointId, reason: identified, count: 1 })
      return Effect.fail(RequestError.InvalidSignature)
    })
  }

  return { checkEndpoint, verifySignature }
})

/**
 * Creates the function that counts rejected webhooks of existing endpoints. The counts are stored in the background with one statement, so that
 * forged webhooks cost the database no more.
 */
const createRejectionCounter = Effect.gen(function* () {
  const inbox = yield* InboxRepository
  const counts = new Map<string, SignatureRejections>()
  const count = (rejections: SignatureRejections) => {
    const key = `${rejections.endpointId} ${rejections.reason}`
    counts.set(key, { ...rejections, count: rejections.count + (counts.get(key)?.count ?? 0) })
  }
  const store = Effect.gen(function* () {
    if (counts.size === 0) return
    const rejections = [...counts.values()]
    counts.clear()
    const exit = yield* Effect.exit(inbox.countRejections(rejections))
    if (Exit.isSuccess(exit)) return
    rejections.forEach(count)
    yield* Effect.logWarning("rejected signatures could not be stored yet").pipe(
      Effect.annotateLogs({ errors: describeCause(exit.cause) }),
    )
  })
  yield* Effect.addFinalizer(() => Effect.timeoutOption(store, STORE_REJECTIONS_EVERY))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(STORE_REJECTIONS_EVERY), store)))
  return count
})

/** Returns the secret that verifies a body, or why there is none. */
const findSecret = (
  header: string | undefined,
  body: Uint8Array,
  owner: Known,
  now: number,
): { readonly secretId: SecretId } | SignatureFault => {
  const secrets = owner.secrets.filter(({ expiresAt }) => expiresAt === null || now < expiresAt)
  if (secrets.length === 0) return "no_secrets"
  try {
    const { secretIndex } = verify(
      header,
      body,
      secrets.map(({ secret }) => Redacted.value(secret)),
      { now: now / 1000, tolerance: TOLERANCE_SECONDS },
    )
    return { secretId: secrets[secretIndex]!.id }
  } catch (error) {
    if (error instanceof SignatureError) return isFault(error.code) ? error.code : "no_match"
    throw error
  }
}

const isFault = (code: string): code is SignatureFault => code in SIGNATURE_FAULTS
