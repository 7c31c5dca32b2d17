import type { CampaignDomain } from "@outreach/postgres/campaigns/CampaignReader"
import { formatCount } from "../../components/format.ts"
import { Table } from "../../components/Table.tsx"
import { Code, ForeignText, foreign, Noted, StatusBadge, Time } from "../../components/values.tsx"

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
      columns={{
        Domain: ({ domain, operator }) => (
          <>
            <ForeignText>{domain}</ForeignText>
            {operator !== null && operator !== domain && <small> {foreign`at ${operator}`}</small>}
          </>
        ),
        State: ({ pausedUntil }) =>
          pausedUntil === null ? (
            <StatusBadge tone="good">open</StatusBadge>
          ) : (
            <>
              <StatusBadge tone="bad">refuses us</StatusBadge> until <Time at={pausedUntil} />
            </>
          ),
        Sent: { count: ({ sent }) => sent },
        Bounced: { number: (row) => <Bounces {...row} /> },
        Deferred: { count: ({ deferred }) => deferred },
        Refused: { count: ({ refused }) => refused },
        "Last reply": ({ lastReply, lastReplyAt }) =>
          lastReply === null ? (
            "–"
          ) : (
            <>
              <Code class="reply">{lastReply}</Code> <Time at={lastReplyAt} />
            </>
          ),
      }}
    />
  </>
)

const Bounces = (domain: CampaignDomain) => {
  const reasons = REASONS.flatMap(([key, words]) => (domain[key] > 0 ? [`${formatCount(domain[key])} ${words}`] : []))
  const total = formatCount(REASONS.reduce((sum, [key]) => sum + domain[key], 0))
  return reasons.length === 0 ? <>{total}</> : <Noted note={reasons.join(", ")}>{total}</Noted>
}
