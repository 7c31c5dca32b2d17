import { Effect } from "effect"
import { inTransaction, Transaction } from "../Transaction.ts"
import { chooseSubject, decisionTime } from "./SubjectTest.ts"
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
