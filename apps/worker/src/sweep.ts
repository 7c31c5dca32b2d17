import { KeyRing } from "@outreach/domain/callers/KeyRing"
import { IdempotencyLedger } from "@outreach/domain/idempotency/IdempotencyLedger"
import { MessageQueue } from "@outreach/domain/outreach/MessageQueue"
import { Effect } from "effect"
import { persist } from "./persist.ts"

/** Forgets the rate windows, the idempotency keys and the paces of e-mails that are over, once a minute, until interrupted. */
export const sweep = Effect.gen(function* () {
  const keys = yield* KeyRing
  const ledger = yield* IdempotencyLedger
  const messages = yield* MessageQueue
  const once = Effect.all([keys.forgetWindows, ledger.forgetExpired, messages.forgetPaces], { discard: true })
  return yield* persist("sweep", Effect.andThen(once, Effect.sleep("1 minute")))
})
