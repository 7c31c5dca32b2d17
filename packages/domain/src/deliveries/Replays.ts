import { Effect } from "effect"
import { inTransaction } from "../Transaction.ts"
import type { DeadLetterFilter } from "./DeliveryRepository.ts"
import { type LogRange, ReplayJobQueue, ReplayOverlaps, type ReplaySelection } from "./ReplayJobQueue.ts"

/** Creates a job, unless a running one overlaps. `rate` is 1 to `MAX_REPLAYS_PER_SECOND`. */
const createReplay = Effect.fn("Replays.createReplay")(function* (selection: ReplaySelection, rate: number) {
  const jobs = yield* ReplayJobQueue
  yield* jobs.lock
  const replayId = yield* jobs.findOverlapping(selection)
  if (replayId !== undefined) return yield* new ReplayOverlaps({ replayId })
  return yield* jobs.create(selection, rate)
}, inTransaction)

export const createDeadLetterReplay = (filter: DeadLetterFilter, rate: number) =>
  Effect.catchTags(createReplay({ kind: "dead_letters", filter }, rate), {
    EndpointNotFound: Effect.die,
    EndpointRemoved: Effect.die,
  })

export const createLogReplay = (range: LogRange, rate: number) => createReplay({ kind: "log", range }, rate)
