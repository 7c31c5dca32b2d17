import { type Caller, isApiKeyText } from "@outreach/domain/callers/ApiKey"
import { KeyRing } from "@outreach/domain/callers/KeyRing"
import { Deployment } from "@outreach/domain/Deployment"
import { decide, type RateLimitDecision } from "@outreach/rate-limit"
import { Clock, Effect } from "effect"
import type { Refusal } from "./refuse.ts"

/** A recognised and counted caller, within its limit. */
export interface Admitted {
  readonly caller: Caller
  readonly window: RateLimitDecision
}

/** A caller whose window is spent is refused with that window; any other refusal is of nobody known. */
export interface NotAdmitted {
  readonly refusal: Refusal
  readonly window: RateLimitDecision | undefined
}

/** 100 requests in each clock minute, for each key. */
const POLICY = { limit: 100 } as const

/** The window of a key that was never used; what those see whom nobody charges. */
export const untouchedWindow = (now: number): RateLimitDecision => decide(0, POLICY, now)

const UNAUTHORIZED: NotAdmitted = { refusal: { reason: "unauthorized" }, window: undefined }

/** Makes the function that recognises and counts the bearer of an `Authorization` header. */
export const makeAdmit = Effect.gen(function* () {
  const keys = yield* KeyRing
  const { livemode } = yield* Deployment
  // Keys over their limit, until their window ends by this process's clock: the database is not asked about them again.
  const spent = new Map<string, { readonly endsAt: number; readonly reset: number }>()

  return Effect.fnUntraced(function* (authorization: string | undefined) {
    const text = /^Bearer +([^ ]+) *$/i.exec(authorization ?? "")?.[1]
    if (text === undefined || !isApiKeyText(text, livemode)) return yield* Effect.fail(UNAUTHORIZED)

    const millis = yield* Clock.currentTimeMillis
    const known = spent.get(text)
    if (known !== undefined && millis < known.endsAt) {
      return yield* overLimit(decide(POLICY.limit + 1, POLICY, known.reset - (known.endsAt - millis) / 1000))
    }

    const admission = yield* keys.admit(text)
    if (admission === undefined) return yield* Effect.fail(UNAUTHORIZED)
    const { caller, count, now } = admission
    const window = decide(count, POLICY, now)
    if (!window.allowed) {
      for (const [key, { endsAt }] of spent) if (endsAt <= millis) spent.delete(key)
      spent.set(text, { endsAt: millis + (window.reset - now) * 1000, reset: window.reset })
      return yield* overLimit(window)
    }
    return { caller, window } satisfies Admitted
  })
})

const overLimit = (window: RateLimitDecision): Effect.Effect<never, NotAdmitted> =>
  Effect.fail({ refusal: { reason: "rate limited", retryAfter: window.retryAfter ?? 1 }, window })
