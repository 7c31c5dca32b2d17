import { MAX_REPLAYS_PER_SECOND } from "@outreach/domain/deliveries/ReplayJobQueue"
import { switchFlag, wholeNumber, withDefault } from "./Input.ts"

const DEFAULT_RATE = 100

/** The flags of a replay: its deliveries per second, and whether the command ends before the workers have carried out the job. */
export const replayFlags = {
  rate: withDefault(
    wholeNumber(
      1,
      MAX_REPLAYS_PER_SECOND,
      `Deliveries per second, 1 to ${MAX_REPLAYS_PER_SECOND} (default ${DEFAULT_RATE}); dead letters given by id are delivered at once`,
    ),
    DEFAULT_RATE,
  ),
  dryRun: switchFlag("Only count them"),
  detach: switchFlag("Do not wait until the workers have done it"),
}
