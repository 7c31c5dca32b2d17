import { hash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { Deployment } from "@outreach/domain/Deployment"
import { type Caller, isApiKeyText, KEY_REQUESTS_PER_MINUTE } from "@outreach/domain/organizations/ApiKey"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeys"
import { addressLimit } from "@outreach/process/addressLimit"
import { clientAddress } from "@outreach/process/trustProxy"
import { decideCount, fixedWindow, type RateLimitDecision } from "@outreach/rate-limit"
import { Clock, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { ApiConfig } from "../ApiConfig.ts"
import { RequestError } from "./RequestError.ts"

/** Requests per key and clock minute. */
export const KEY_POLICY = fixedWindow({ limit: KEY_REQUESTS_PER_MINUTE })

/** An authenticated caller within its rate limit. */
export interface AuthenticatedRequest {
  readonly caller: Caller
  readonly window: RateLimitDecision
  /** Time of the request in Unix milliseconds: the earlier of this process's clock and the database's. */
  readonly at: number
}

/** Creates the function that authenticates and counts a bearer. */
export const createKeyAuthenticator = Effect.gen(function* () {
  const keys = yield* ApiKeyRepository
  const { livemode } = yield* Deployment
  const { trustProxy, unauthenticatedLimit } = yield* ApiConfig
  const failures = addressLimit(unauthenticatedLimit)
  // Digests of existing keys only, so that strangers can't fill it. Their callers are served even if other callers fail from the same address.
  const good = new Set<string>()
  // Digests of keys over their limit, until their window ends by this process's clock: they aren't looked up again.
  const spent = new Map<string, { readonly endsAt: number; readonly reset: number }>()

  return Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const address = () => clientAddress(request.source as IncomingMessage, trustProxy)
    const millis = yield* Clock.currentTimeMillis
    const text = /^Bearer +([^ ]+) *$/i.exec(request.headers["authorization"] ?? "")?.[1]

    const digest = text && hash("sha256", text, "base64")

    const wait = digest !== undefined && good.has(digest) ? undefined : failures.wait(address, millis / 1000)
    if (wait !== undefined) return yield* Effect.fail(RequestError.RateLimited(wait))

    const known = digest === undefined ? undefined : spent.get(digest)
    if (known !== undefined && millis < known.endsAt) {
      const now = known.reset - (known.endsAt - millis) / 1000
      return yield* overLimit(decideCount(KEY_POLICY, KEY_POLICY.limit + 1, now * 1000))
    }

    const admission = text !== undefined && isApiKeyText(text, livemode) ? yield* keys.authenticateKey(text) : undefined
    if (digest === undefined || admission === undefined) {
      if (digest !== undefined) good.delete(digest)
      failures.countFailure(address(), millis / 1000)
      return yield* Effect.fail(RequestError.Unauthorized)
    }
    good.add(digest)

    const { caller, count, now } = admission
    const window = decideCount(KEY_POLICY, count, now * 1000)
    if (!window.allowed) {
      for (const [key, { endsAt }] of spent) if (endsAt <= millis) spent.delete(key)
      spent.set(digest, { endsAt: millis + (window.reset - now) * 1000, reset: window.reset })
      return yield* overLimit(window)
    }
    return { caller, window, at: Math.min(millis, now * 1000) } satisfies AuthenticatedRequest
  })
})

const overLimit = (window: RateLimitDecision) => Effect.fail(RequestError.RateLimited(window.retryAfter ?? 1, window))
