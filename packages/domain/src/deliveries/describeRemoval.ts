import { COUNT_CAP } from "../countCaps.ts"
import type { EndpointStatus } from "./Endpoint.ts"

/** Describes the effects of removing an endpoint, before it is removed. */
export const describeRemoval = (
  endpoint: Pick<EndpointStatus, "lagEvents" | "waiting" | "waitingReplays" | "inFlight">,
): string => {
  const { lagEvents, waiting, waitingReplays, inFlight } = endpoint
  const ended = [
    counted(lagEvents, "event that was not read yet", "events that were not read yet"),
    counted(waiting - lagEvents - waitingReplays, "retry", "retries"),
    counted(waitingReplays, "replay", "replays"),
  ].filter((text) => text !== undefined)
  const waits = ended.length === 0 ? "No deliveries are pending" : `Never sent to it: ${ended.join(", ")}`
  const calls = inFlight === 0 ? "" : `; ${counted(inFlight, "call", "calls")} in flight may still arrive`
  return `${waits}${calls}. Its dead letters and its history stay.`
}

const counted = (count: number, one: string, many: string): string | undefined =>
  count === 0 ? undefined : `${count >= COUNT_CAP ? "at least " : ""}${count} ${count === 1 ? one : many}`
