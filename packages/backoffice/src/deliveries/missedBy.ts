import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import type { EndpointId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { DeadLetterReader } from "./DeadLetterReader.ts"

/** What an endpoint missed: the dead letters since it began to fail that were not replayed. */
export interface Missed {
  readonly endpointId: EndpointId
  readonly from: Timestamp
  readonly count: number
}

/** Counts what an endpoint missed since it began to fail; null if that is nothing. Its enabling forgets when that was. */
export const missedBy = Effect.fnUntraced(function* (endpointId: EndpointId) {
  const { failingSince: from } = yield* (yield* EndpointRepository).find(endpointId)
  if (from === null) return null
  const counts = yield* (yield* DeadLetterReader).count({ endpointId, from })
  const count = counts.reduce((sum, each) => sum + each.count, 0)
  return count === 0 ? null : ({ endpointId, from, count } satisfies Missed)
})
