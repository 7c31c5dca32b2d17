import { expect, it } from "@effect/vitest"
import { COUNT_CAP } from "../../src/countCaps.ts"
import { describeRemoval } from "../../src/deliveries/Endpoints.ts"

const NOTHING = { lagEvents: 0, waiting: 0, waitingReplays: 0, inFlight: 0 }

it.each([
  ["nothing", NOTHING, "No deliveries are pending. Its dead letters and its history stay."],
  [
    "of each kind one",
    { lagEvents: 1, waiting: 3, waitingReplays: 1, inFlight: 1 },
    "Never sent to it: 1 event that was not read yet, 1 retry, 1 replay; 1 call in flight may still arrive. Its dead letters and its history stay.",
  ],
  [
    "more than is counted",
    { ...NOTHING, lagEvents: COUNT_CAP, waiting: COUNT_CAP },
    "Never sent to it: at least 10000 events that were not read yet. Its dead letters and its history stay.",
  ],
])("says what the removal of an endpoint ends: %s", (_, waiting, sentence) => {
  expect(describeRemoval(waiting)).toBe(sentence)
})
