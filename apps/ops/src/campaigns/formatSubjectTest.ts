import type { SubjectTestReport } from "@outreach/domain/campaigns/readSubjectTestReport"
import type { TestSubject } from "@outreach/domain/mail/Message"
import { formatRecord, formatRows } from "../output/Output.ts"

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
