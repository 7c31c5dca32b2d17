import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { decisionTime, type SubjectFigures, type SubjectTestState } from "@outreach/domain/campaigns/SubjectTest"
import { SubjectTestRepository } from "@outreach/domain/campaigns/SubjectTestRepository"
import type { TestSubject } from "@outreach/domain/mail/Message"
import { fromUnixMillis, type Timestamp } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { formatRecord, formatRows } from "../output/Output.ts"

/** How a subject test stands, and what became of the messages with each subject. */
interface SubjectTestReport extends SubjectTestState {
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

/** Formats a report as text; `subjectA` is the campaign's own subject. */
export const formatSubjectTest = (subjectA: string, report: SubjectTestReport): string => {
  const { subjectB, share, afterSeconds, winner, decidedAt, decidesAt, counts } = report
  const nameOf = (subject: TestSubject | null) =>
    subject === null ? `others${winner === null ? "" : `: ${winner.toUpperCase()}`}` : subject.toUpperCase()
  const rows = report.figures.map(({ testSubject, ...figures }) => ({ subject: nameOf(testSubject), ...figures }))
  const decidedBy =
    counts && `${counts.a.clicked} of ${counts.a.sent} for A, ${counts.b.clicked} of ${counts.b.sent} for B`
  const state = {
    subjectA,
    subjectB,
    abShare: share,
    abAfterSeconds: afterSeconds,
    decidesAt,
    winner,
    decidedAt,
    decidedBy,
  }
  const table = formatRows(rows, [
    "subject",
    "recipients",
    "sent",
    "uniqueOpened",
    "unsuspectedUniqueOpened",
    "uniqueClicked",
    "unsuspectedUniqueClicked",
  ])
  return `The test of two subjects:\n${formatRecord(state)}\n\n${table}`
}
