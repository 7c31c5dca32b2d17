import { applyBatch } from "@outreach/domain/inbox/applyBatch"
import { InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { Hints } from "@outreach/postgres/events/Hints"
import { Effect, Latch, Option } from "effect"
import { processInTurns } from "../loops/processInTurns.ts"
import { retryForever } from "../loops/retryForever.ts"
import { workerLimits } from "../workerLimits.ts"

const { minMs, maxMs } = workerLimits.pause

/** Applies received events in batches, until interrupted. */
export const applyInbox = Effect.gen(function* () {
  const { organizations } = yield* InboxRepository
  const applySome = processInTurns("applyInbox", organizations, applyBatch)
  const hints = yield* Hints
  const wakeUp = yield* Latch.make()
  yield* Effect.forkScoped(hints.listen(({ topic }) => (topic === "inbox" ? wakeUp.open : Effect.void)))
  let pause: number = minMs
  const step = Effect.gen(function* () {
    yield* wakeUp.close
    if ((yield* applySome) > 0) {
      pause = minMs
      return
    }
    const isWoken = Option.isSome(yield* Effect.timeoutOption(wakeUp.await, pause))
    pause = isWoken ? minMs : Math.min(pause * 2, maxMs)
  })
  return yield* retryForever("applyInbox", step)
}).pipe(Effect.scoped)
