import type { FollowUpState } from "@outreach/domain/campaigns/FollowUp"
import { formatDuration } from "../../components/format.ts"
import { Facts, Table } from "../../components/Table.tsx"
import { IdLink, Time } from "../../components/values.tsx"

/** Which recipients a follow-up is sent to, and how many were left out. */
export const FollowUpReport = ({ followUp }: { readonly followUp: FollowUpState }) => (
  <>
    <h2>Follow-up</h2>
    <Facts
      facts={{
        "Earlier campaign": <IdLink id={followUp.followUpOf} />,
        "Sent to those who have not": followUp.unless.replaceAll("_", " "),
        "Time that each has had": formatDuration(followUp.afterSeconds),
        Drawn: <Time at={followUp.drawnAt} none="shortly before the window" />,
      }}
    />
    <Table
      caption="Recipients of the earlier campaign who are left out"
      rows={Object.entries(followUp.skipped)}
      empty="Nobody was left out so far."
      columns={{
        Reason: ([reason]) => reason.replaceAll("_", " "),
        Recipients: { count: ([, recipients]) => recipients },
      }}
    />
  </>
)
