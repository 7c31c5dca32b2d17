import { MAX_REPLAYS_PER_SECOND } from "@outreach/postgres/deliveries/ReplayJobQueue"
import { Flag } from "effect/cli"

const DEFAULT_RATE = 100

/** `--rate`: the deliveries per second of a replay. */
export const replayRate = Flag.Int("rate").pipe(
  Flag.withDescription(
    `Deliveries per second, 1 to ${MAX_REPLAYS_PER_SECOND} (default ${DEFAULT_RATE}); dead letters given by id are delivered at once`,
  ),
  Flag.filter(
    (rate) => rate >= 1 && rate <= MAX_REPLAYS_PER_SECOND,
    () => `a whole number from 1 to ${MAX_REPLAYS_PER_SECOND}`,
  ),
  Flag.withDefault(DEFAULT_RATE),
)
