import type { CampaignDomain, LateRefusalCount } from "@outreach/backoffice/campaigns/CampaignReader"
import { formatCount } from "@outreach/backoffice/format"
import type { LateRefusalCause } from "@outreach/domain/mail/returned/Bounces"
import { Struct } from "effect"
import { Table } from "../../components/layout.tsx"
import { Code, Noted, StatusBadge, Time } from "../../components/values.tsx"

const REASONS = {
  mailboxNotFound: "no such mailbox",
  mailboxDisabled: "mailbox disabled",
  domainNotFound: "no such domain",
  addressInvalid: "address not valid",
  other: "other reason",
}

export const describeBounces = (domain: Readonly<Record<keyof typeof REASONS, number>>): string =>
  Struct.keys(REASONS)
    .flatMap((key) => (domain[key] > 0 ? [`${formatCount(domain[key])} ${REASONS[key]}`] : []))
    .join(", ")

export const MAX_DOMAINS = 50

/** Outcomes by recipient domain, paused domains first, and messages that were accepted and refused later. */
export const DomainTables = (props: {
  readonly domains: ReadonlyArray<CampaignDomain>
  readonly lateRefusals: ReadonlyArray<LateRefusalCount>
}) => (
  <>
    <h2 id="domains">Domains</h2>
    <Table
      caption={`Responses of mail servers by recipient domain; the ${MAX_DOMAINS} with most responses`}
      rows={props.domains}
      empty="No responses from mail servers yet."
      columns={{
        Domain: ({ domain }) => domain,
        State: ({ pausedUntil }) =>
          pausedUntil === null ? (
            { tone: "good", word: "open" }
          ) : (
            <>
              <StatusBadge tone="bad">rejecting</StatusBadge> until <Time at={pausedUntil} />
            </>
          ),
        Sent: { number: ({ sent }) => sent },
        Bounced: { number: (row) => <Noted note={describeBounces(row)}>{formatCount(bouncesOf(row))}</Noted> },
        Deferred: { number: ({ deferred }) => deferred },
        Rejected: { number: ({ refused }) => refused },
        "Last reply": ({ lastReply, lastReplyAt }) =>
          lastReply === null ? (
            "–"
          ) : (
            <>
              <Code class="line">{lastReply}</Code> <Time at={lastReplyAt} />
            </>
          ),
      }}
    />
    <Table
      caption="Rejected later without a hard bounce, by cause and domain"
      rows={props.lateRefusals}
      columns={{
        Cause: ({ cause }) => CAUSES[cause],
        Domain: ({ domain }) => domain ?? "all",
        Messages: { number: ({ messages }) => messages },
      }}
    />
  </>
)

const bouncesOf = (domain: CampaignDomain): number => Struct.keys(REASONS).reduce((sum, key) => sum + domain[key], 0)

const CAUSES: Readonly<Record<LateRefusalCause, string>> = {
  policy: "policy or reputation",
  content: "content or size",
  full: "mailbox full",
  expired: "delivery timeout",
  other: "other",
}
