import { Effect } from "effect"
import { fromUnixMillis, type Timestamp } from "../Timestamp.ts"
import { inTransaction, Transaction } from "../Transaction.ts"
import type { Campaign } from "./Campaign.ts"
import { chooseSubject, decisionTime, type SubjectFigures, type SubjectTestState } from "./SubjectTest.ts"
import { SubjectTestRepository, type UndecidedTest } from "./SubjectTestRepository.ts"

/** How many waiting messages one transaction makes due. */
const RELEASE_BATCH_SIZE = 5000

/** Decides the subject tests whose time has come, each once over all workers, and lets the recipients who waited have the winner. */
export const decideSubjects = Effect.fn("SubjectTests.decideSubjects")(function* () {
  const tests = yield* SubjectTestRepository
  for (const test of yield* tests.undecided) if (decisionTime(test) <= test.now) yield* decide(test)
  const { run } = yield* Transaction
  while (true) {
    const released = yield* run(tests.release(RELEASE_BATCH_SIZE))
    if (released === undefined) return
    yield* tests.bringForward(released)
  }
})

const decide = Effect.fnUntraced(function* (test: UndecidedTest) {
  const tests = yield* SubjectTestRepository
  const counts = yield* tests.lockUndecided(test)
  if (counts === undefined) return
  const winner = chooseSubject(counts)
  yield* tests.decide(test, winner, counts)
  yield* Effect.logInfo("subject test decided").pipe(
    Effect.annotateLogs({
      campaignId: test.campaignId,
      winner,
      sentA: counts.a.sent,
      clickedA: counts.a.clicked,
      sentB: counts.b.sent,
      clickedB: counts.b.clicked,
    }),
  )
}, inTransaction)

/** How a subject test stands, and the outcomes of the messages with each subject. */
export interface SubjectTestReport extends SubjectTestState {
  /** When the winner will be decided; null before sending has begun, once it is decided, and when nobody waits for it. */
  readonly decidesAt: Timestamp | null
  readonly figures: ReadonlyArray<SubjectFigures>
}

/** Reads how a campaign's subject test stands; null for a campaign with one subject. */
export const readSubjectTestReport = Effect.fnUntraced(function* ({
  organizationId,
  id,
  status,
  windowEnd,
}: Pick<Campaign, "organizationId" | "id" | "status" | "windowEnd">) {
  const tests = yield* SubjectTestRepository
  const campaign = { organizationId, campaignId: id }
  const test = yield* tests.find(campaign)
  if (test === undefined) return null
  const { beganAt, afterSeconds, winner } = test
  const isWaiting = status === "sending" && beganAt !== null && afterSeconds !== null && winner === null
  const decidesAt = isWaiting ? fromUnixMillis(decisionTime({ beganAt, afterSeconds, windowEnd })) : null
  return { ...test, decidesAt, figures: yield* tests.figures(campaign) } satisfies SubjectTestReport
})
