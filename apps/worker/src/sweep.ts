import { KeyRing } from "@outreach/domain/callers/KeyRing"
import { IdempotencyLedger } from "@outreach/domain/idempotency/IdempotencyLedger"
import { Effect } from "effect"
import { persist } from "./persist.ts"

/** Forgets the rate windows and the idempotency keys that are over, once a minute, until interrupted. */
export const sweep = Effect.gen(function* () {
  const keys = yield* KeyRing
  const ledger = yield* IdempotencyLedger
  const once = Effect.andThen(keys.forgetWindows, ledger.forgetExpired)
  return yield* persist("sweep", Effect.andThen(once, Effect.sleep("1 minute")))
})
