import { MAX_REPLAYS_PER_SECOND } from "@outreach/domain/deliveries/ReplayJobQueue"
import { Flag } from "effect/cli"

const DEFAULT_RATE = 100

/** How many deliveries a second a replay makes. */
export const replayRate = Flag.Int("rate").pipe(
  Flag.withDescription(
    `How many a second, 1 to ${MAX_REPLAYS_PER_SECOND} (default ${DEFAULT_RATE}); dead letters given by id go at once`,
  ),
  Flag.filter(
    (rate) => rate >= 1 && rate <= MAX_REPLAYS_PER_SECOND,
    () => `a whole number from 1 to ${MAX_REPLAYS_PER_SECOND}`,
  ),
  Flag.withDefault(DEFAULT_RATE),
)
