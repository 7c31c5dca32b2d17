import type { FollowUpState } from "@outreach/domain/campaigns/FollowUp"
import { Facts } from "../../components/Facts.tsx"
import { formatCount, formatDuration } from "../../components/format.ts"
import { IdLink } from "../../components/IdLink.tsx"
import { Table } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"

/** Whom a follow-up is sent to, and who was left out. */
export const FollowUpReport = ({ followUp }: { readonly followUp: FollowUpState }) => (
  <>
    <h2>Follow-up</h2>
    <Facts
      facts={{
        "Earlier campaign": <IdLink id={followUp.followUpOf} />,
        "Sent to whoever has not": followUp.unless.replaceAll("_", " "),
        "Time that each has had": formatDuration(followUp.afterSeconds),
        Drawn: followUp.drawnAt === null ? "shortly before the window" : <Time at={followUp.drawnAt} />,
      }}
    />
    <Table
      caption="Recipients of the earlier campaign who are left out"
      rows={Object.entries(followUp.skipped)}
      empty="Nobody was left out so far."
      columns={[
        { header: "Reason", cell: ([reason]) => reason.replaceAll("_", " ") },
        { header: "Recipients", numeric: true, cell: ([, recipients]) => formatCount(recipients) },
      ]}
    />
  </>
)
