import type { CampaignDomain } from "@outreach/postgres/campaigns/CampaignReader"
import { ForeignText } from "../../components/ForeignText.tsx"
import { formatCount } from "../../components/format.ts"
import { StatusBadge } from "../../components/StatusBadge.tsx"
import { Table } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"

const REASONS = [
  ["mailboxNotFound", "no such mailbox"],
  ["mailboxDisabled", "mailbox disabled"],
  ["domainNotFound", "no such domain"],
  ["addressInvalid", "address not valid"],
  ["other", "other"],
] as const

/** What the domains of the recipients answered, those that are paused first. */
export const DomainTable = (props: { readonly domains: ReadonlyArray<CampaignDomain>; readonly limit: number }) => (
  <>
    <h2 id="domains">Domains</h2>
    <Table
      caption={`What mail servers answered, by the recipients' domain; the ${props.limit} that answered most`}
      rows={props.domains}
      empty="No mail server has answered yet."
      columns={[
        {
          header: "Domain",
          cell: ({ domain, operator }) => (
            <>
              <ForeignText>{domain}</ForeignText>
              {operator !== null && operator !== domain && (
                <small>
                  {" "}
                  at <ForeignText>{operator}</ForeignText>
                </small>
              )}
            </>
          ),
        },
        {
          header: "State",
          cell: ({ pausedUntil }) =>
            pausedUntil === null ? (
              <StatusBadge tone="good">open</StatusBadge>
            ) : (
              <>
                <StatusBadge tone="bad">refuses us</StatusBadge> until <Time at={pausedUntil} />
              </>
            ),
        },
        count("Sent", ({ sent }) => sent),
        {
          header: "Bounced",
          numeric: true,
          cell: (row) => {
            const reasons = REASONS.flatMap(([key, words]) =>
              row[key] > 0 ? [`${formatCount(row[key])} ${words}`] : [],
            )
            const total = REASONS.reduce((sum, [key]) => sum + row[key], 0)
            return (
              <>
                {formatCount(total)}
                {reasons.length > 0 && (
                  <>
                    <br />
                    <small>{reasons.join(", ")}</small>
                  </>
                )}
              </>
            )
          },
        },
        count("Deferred", ({ deferred }) => deferred),
        count("Refused", ({ refused }) => refused),
        {
          header: "Last reply",
          cell: ({ lastReply, lastReplyAt }) =>
            lastReply === null ? (
              "–"
            ) : (
              <>
                <code class="reply">
                  <ForeignText>{lastReply}</ForeignText>
                </code>{" "}
                <Time at={lastReplyAt} />
              </>
            ),
        },
      ]}
    />
  </>
)

const count = (header: string, read: (row: CampaignDomain) => number) => ({
  header,
  numeric: true,
  cell: (row: CampaignDomain) => formatCount(read(row)),
})
