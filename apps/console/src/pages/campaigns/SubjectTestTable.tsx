import type { SubjectTestReport } from "@outreach/domain/campaigns/readSubjectTestReport"
import { formatCount, formatDuration, formatShare } from "../../components/format.ts"
import { Facts, Table } from "../../components/Table.tsx"
import { Time } from "../../components/values.tsx"

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
          Winner: winner?.toUpperCase() ?? <Time at={decidesAt} none="not decided" />,
          Decided: decidedAt && <Time at={decidedAt} />,
          "Decided by":
            counts &&
            `${formatCount(counts.a.clicked)} clicks of ${formatCount(counts.a.sent)} for A, ${formatCount(counts.b.clicked)} of ${formatCount(counts.b.sent)} for B`,
        }}
      />
      <Table
        caption="The messages with each subject"
        rows={figures}
        empty="No recipient is imported yet."
        columns={{
          Subject: ({ testSubject }) => testSubject?.toUpperCase() ?? "the others",
          Recipients: { count: ({ recipients }) => recipients },
          Sent: { count: ({ sent }) => sent },
          Opened: { count: ({ unsuspectedUniqueOpened }) => unsuspectedUniqueOpened },
          "Opened, with suspected bots": { count: ({ uniqueOpened }) => uniqueOpened },
          Clicked: { count: ({ unsuspectedUniqueClicked }) => unsuspectedUniqueClicked },
          "Clicked, with suspected bots": { count: ({ uniqueClicked }) => uniqueClicked },
          "Clicked of sent": {
            number: ({ sent, unsuspectedUniqueClicked }) =>
              formatShare(sent === 0 ? null : unsuspectedUniqueClicked / sent),
          },
        }}
      />
    </>
  )
}
