import { applyBatch } from "@outreach/domain/inbox/applyBatch"
import { InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { Hints } from "@outreach/postgres/events/Hints"
import { Effect, Latch, Option } from "effect"
import { retryForever } from "../loops/retryForever.ts"
import { takeTurns } from "../loops/takeTurns.ts"
import { workerLimits } from "../workerLimits.ts"

const { minMs, maxMs } = workerLimits.pause

/** Applies received events in batches, until interrupted. */
export const applyInbox = Effect.gen(function* () {
  const { organizations } = yield* InboxRepository
  const applySome = takeTurns("applyInbox", organizations, applyBatch)
  const hints = yield* Hints
  const heard = yield* Latch.make()
  yield* Effect.forkScoped(hints.listen(({ topic }) => (topic === "inbox" ? heard.open : Effect.void)))
  let pause: number = minMs
  const step = Effect.gen(function* () {
    yield* heard.close
    if ((yield* applySome) > 0) {
      pause = minMs
      return
    }
    const isHeard = Option.isSome(yield* Effect.timeoutOption(heard.await, pause))
    pause = isHeard ? minMs : Math.min(pause * 2, maxMs)
  })
  return yield* retryForever("applyInbox", step)
}).pipe(Effect.scoped)
