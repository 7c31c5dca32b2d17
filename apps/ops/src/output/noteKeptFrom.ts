import type { Timestamp } from "@outreach/domain/Timestamp"
import { Partitions } from "@outreach/postgres/Partitions"
import { Effect } from "effect"
import { printToStderr } from "./Output.ts"

/** Says that the log begins later than it is asked for. */
export const noteKeptFrom = Effect.fnUntraced(function* (from: Timestamp) {
  const keptFrom = yield* (yield* Partitions).eventsKeptFrom
  if (keptFrom !== null && from < keptFrom) {
    yield* printToStderr(`No events are kept from before ${keptFrom.slice(0, 10)} (EVENTS_MONTHS).`)
  }
})
