import { expect } from "@effect/vitest"
import { Hints, type Topic } from "@outreach/postgres/events/Hints"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { Effect, Queue } from "effect"
import { managePartitions } from "../../src/upkeep/managePartitions.ts"

const test = effectTest(runOnDatabase())
const KEEP_ALL = { historyDays: 90, eventsMonths: null, inboxMonths: null, deadLettersDays: null }

test("who adds partitions of the events hints at all of them, because a reading that waited for the partitions saw none", function* () {
  const given = yield* Queue.unbounded<readonly [Topic, string | undefined]>()
  const hints = Hints.of({
    give: (topic, organizationId) => Effect.asVoid(Queue.offer(given, [topic, organizationId])),
    listen: () => Effect.never,
  })
  const managing = Effect.provideService(managePartitions(KEEP_ALL), Hints, hints)
  expect(yield* Effect.raceFirst(Queue.take(given), managing)).toEqual(["events", undefined])
})
