import { Effect } from "effect"
import { fromUnixMillis, type Timestamp } from "../Timestamp.ts"
import type { Campaign } from "./Campaign.ts"
import { decisionTime, type SubjectFigures, type SubjectTestState } from "./SubjectTest.ts"
import { SubjectTestRepository } from "./SubjectTestRepository.ts"

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
