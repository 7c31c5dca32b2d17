import type { SubjectTestReport } from "@outreach/domain/campaigns/readSubjectTestReport"
import type { SubjectFigures } from "@outreach/domain/campaigns/SubjectTest"
import { Facts } from "../../components/Facts.tsx"
import { formatCount, formatDuration, formatShare } from "../../components/format.ts"
import { Table } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"

/** How the test of two subjects stands. */
export const SubjectTestTable = (props: { readonly subjectA: string; readonly report: SubjectTestReport }) => {
  const { subjectB, share, afterSeconds, winner, decidedAt, decidesAt, counts, figures } = props.report
  return (
    <>
      <h2>Two subjects</h2>
      <Facts
        facts={{
          A: props.subjectA,
          B: subjectB,
          Share: `${share} % of the recipients test`,
          "Decided after": afterSeconds === null ? "never: nobody waits" : formatDuration(afterSeconds),
          Winner: winner === null ? decidesAt === null ? "not decided" : <Time at={decidesAt} /> : winner.toUpperCase(),
          Decided: decidedAt === null ? undefined : <Time at={decidedAt} />,
          "Decided by":
            counts === null
              ? undefined
              : `${formatCount(counts.a.clicked)} clicks of ${formatCount(counts.a.sent)} for A, ${formatCount(counts.b.clicked)} of ${formatCount(counts.b.sent)} for B`,
        }}
      />
      <Table
        caption="What became of the messages with each subject"
        rows={figures}
        empty="No recipient is imported yet."
        columns={[
          { header: "Subject", cell: ({ testSubject }) => testSubject?.toUpperCase() ?? "the others" },
          count("Recipients", ({ recipients }) => recipients),
          count("Sent", ({ sent }) => sent),
          count("Opened", ({ unsuspectedUniqueOpened }) => unsuspectedUniqueOpened),
          count("Opened, with suspected bots", ({ uniqueOpened }) => uniqueOpened),
          count("Clicked", ({ unsuspectedUniqueClicked }) => unsuspectedUniqueClicked),
          count("Clicked, with suspected bots", ({ uniqueClicked }) => uniqueClicked),
          {
            header: "Clicked of sent",
            numeric: true,
            cell: ({ sent, unsuspectedUniqueClicked }) =>
              formatShare(sent === 0 ? null : unsuspectedUniqueClicked / sent),
          },
        ]}
      />
    </>
  )
}

const count = (header: string, read: (figures: SubjectFigures) => number) => ({
  header,
  numeric: true,
  cell: (figures: SubjectFigures) => formatCount(read(figures)),
})
