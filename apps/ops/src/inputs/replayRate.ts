import { MOST_REPLAYED_A_SECOND } from "@outreach/domain/deliveries/ReplayBook"
import { Flag } from "effect/cli"

const DEFAULT_RATE = 100

/** How many deliveries a second a replay makes. */
export const replayRate = Flag.Int("rate").pipe(
  Flag.withDescription(
    `How many a second, 1 to ${MOST_REPLAYED_A_SECOND} (default ${DEFAULT_RATE}); dead letters given by id go at once`,
  ),
  Flag.filter(
    (rate) => rate >= 1 && rate <= MOST_REPLAYED_A_SECOND,
    () => `a whole number from 1 to ${MOST_REPLAYED_A_SECOND}`,
  ),
  Flag.withDefault(DEFAULT_RATE),
)
