import type { CampaignFailure, QuarantinedMessage } from "@outreach/domain/campaigns/Campaign"
import type { CampaignDomain } from "@outreach/postgres/campaigns/CampaignReader"
import { formatCount } from "../../components/format.ts"
import { Table } from "../../components/Table.tsx"
import { Code, ForeignText, IdLink, Time } from "../../components/values.tsx"

/** What keeps messages from being sent; nothing if nothing does. */
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
          columns={{
            Class: ({ class: name }) => name,
            Code: ({ code }) => <Code>{code}</Code>,
            Messages: { count: ({ messages }) => messages },
          }}
        />
      )}
      {props.quarantined.length > 0 && (
        <Table
          caption="Messages that are not tried again: sent without a reply, or not rendered (template); the first 100"
          rows={props.quarantined}
          empty="None."
          columns={{
            Recipient: ({ recipientId }) => <IdLink id={recipientId} />,
            Class: ({ class: name }) => name,
            Code: ({ code }) => <Code>{code}</Code>,
            "Without a reply": { count: ({ unknownOutcomes }) => unknownOutcomes },
            Since: ({ quarantinedAt }) => <Time at={quarantinedAt} />,
          }}
        />
      )}
    </>
  )
}
