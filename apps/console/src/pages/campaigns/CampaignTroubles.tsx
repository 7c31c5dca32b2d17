import type { CampaignFailure, QuarantinedMessage } from "@outreach/domain/campaigns/Campaign"
import type { CampaignDomain } from "@outreach/postgres/campaigns/CampaignReader"
import { ForeignText } from "../../components/ForeignText.tsx"
import { formatCount } from "../../components/format.ts"
import { IdLink } from "../../components/IdLink.tsx"
import { Table } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"

/** What keeps messages from being sent, before all else. Nothing where nothing does. */
export const CampaignTroubles = (props: {
  readonly failures: ReadonlyArray<CampaignFailure>
  readonly quarantined: ReadonlyArray<QuarantinedMessage>
  readonly domains: ReadonlyArray<CampaignDomain>
}) => {
  const paused = props.domains.filter(({ pausedUntil }) => pausedUntil !== null)
  const names = paused.slice(0, 5).map(({ domain }) => domain)
  if (props.failures.length === 0 && props.quarantined.length === 0 && paused.length === 0) return null
  return (
    <>
      <h2>What is wrong</h2>
      {paused.length > 0 && (
        <p class="problem">
          {paused.length === 1 ? "A domain refuses us" : `${formatCount(paused.length)} domains refuse us`}:{" "}
          <a href="#domains">
            <ForeignText>{names.join(", ")}</ForeignText>
          </a>
          . Sending there resumes by itself.
        </p>
      )}
      {props.failures.length > 0 && (
        <Table
          caption="Messages that wait for reasons other than their recipients, by the last reply"
          rows={props.failures}
          empty="None."
          columns={[
            { header: "Class", cell: ({ class: name }) => name },
            {
              header: "Code",
              cell: ({ code }) => (
                <code>
                  <ForeignText>{code}</ForeignText>
                </code>
              ),
            },
            { header: "Messages", numeric: true, cell: ({ messages }) => formatCount(messages) },
          ]}
        />
      )}
      {props.quarantined.length > 0 && (
        <Table
          caption="Messages that are not tried again: sent without a reply, or not rendered (template); the first 100"
          rows={props.quarantined}
          empty="None."
          columns={[
            { header: "Recipient", cell: ({ recipientId }) => <IdLink id={recipientId} /> },
            { header: "Class", cell: ({ class: name }) => name },
            {
              header: "Code",
              cell: ({ code }) => (
                <code>
                  <ForeignText>{code}</ForeignText>
                </code>
              ),
            },
            { header: "Without a reply", numeric: true, cell: ({ unknownOutcomes }) => formatCount(unknownOutcomes) },
            { header: "Since", cell: ({ quarantinedAt }) => <Time at={quarantinedAt} /> },
          ]}
        />
      )}
    </>
  )
}
