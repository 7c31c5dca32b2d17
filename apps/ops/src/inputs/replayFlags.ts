import { MAX_REPLAYS_PER_SECOND } from "@outreach/postgres/deliveries/ReplayJobQueue"
import { Flag } from "effect/cli"
import { switchFlag, wholeNumberFlag } from "./parsedInput.ts"

const DEFAULT_RATE = 100

/** `--rate`: the deliveries per second of a replay. */
export const replayRate = wholeNumberFlag(
  "rate",
  1,
  MAX_REPLAYS_PER_SECOND,
  `Deliveries per second, 1 to ${MAX_REPLAYS_PER_SECOND} (default ${DEFAULT_RATE}); dead letters given by id are delivered at once`,
).pipe(Flag.withDefault(DEFAULT_RATE))

/** `--detach`: whether a command ends before the workers have carried out its job. */
export const detach = switchFlag("detach", "Do not wait until the workers have done it")
