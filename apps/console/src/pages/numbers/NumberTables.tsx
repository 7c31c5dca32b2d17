import { formatCount, formatShare } from "@outreach/backoffice/format"
import type {
  BouncedDomain,
  Grouping,
  NumberName,
  Numbers,
  NumbersGroup,
  Period,
} from "@outreach/backoffice/numbers/NumbersReader"
import { addDays } from "@outreach/domain/digest/Digest"
import { Record, String as Str } from "effect"
import { Table, withQuery } from "../../components/layout.tsx"
import { isolated, Noted, renderValue, Time, type Value } from "../../components/values.tsx"
import { listCountedBy, recipientsOf } from "../campaigns/campaignsPages.tsx"
import { describeBounces } from "../campaigns/DomainTable.tsx"

const EVENTS = "/events?type=outreach."
const APPLIED = "/inbox?applied=yes&type=clinician."

interface NumberColumn {
  readonly of: NumberName
  /** The number with bots follows in brackets, because separate columns would make the table too wide. */
  readonly withBots?: NumberName
  /** The list of what it counts. */
  readonly list: string
  /** Whether its share of the sent e-mails is shown. */
  readonly isShare?: true
}

const COLUMNS: Readonly<Record<string, NumberColumn>> = {
  Published: { of: "published", list: `${EVENTS}recipients_published` },
  Sent: { of: "sent", list: `${EVENTS}email_sent` },
  Bounced: { of: "bounced", list: `${EVENTS}email_bounced`, isShare: true },
  "Opened (with bots)": { of: "unsuspectedOpened", withBots: "opened", list: `${EVENTS}email_opened`, isShare: true },
  "Clicked (with bots)": {
    of: "unsuspectedClicked",
    withBots: "clicked",
    list: `${EVENTS}email_clicked`,
    isShare: true,
  },
  Accounts: { of: "accounts", list: `${APPLIED}account_created` },
  Learners: { of: "learners", list: `${APPLIED}learner_qualified` },
  Completers: { of: "completers", list: `${APPLIED}completer_qualified` },
  Complaints: { of: "complained", list: "/suppressions?reason=complained", isShare: true },
  Unsubscribed: { of: "unsubscribed", list: "/suppressions?reason=unsubscribed", isShare: true },
}

/** The numbers of a group, or of all groups. */
type Row = Numbers & Pick<NumbersGroup, "organizationId" | "programId" | "campaignId"> & Partial<NumbersGroup>

/** Returns a number with a link to its list. The log of events has no programs, so a program's number links to its campaigns. */
const linkTo = (name: NumberName, list: string, row: Row, period: Period): Value => {
  if (row[name] === 0) return 0
  const organization = row.organizationId ?? undefined
  const program = row.programId ?? undefined
  const range = { from: `${period.from}T00:00:00Z`, to: `${addDays(period.to, 1)}T00:00:00Z` }
  const to =
    row.campaignId !== null
      ? recipientsOf(row.campaignId, listCountedBy(name)!)
      : program !== undefined && list.startsWith("/events")
        ? withQuery("/numbers", { organization, program, by: "campaign", ...period })
        : withQuery(list, { ...range, organization, ...(list.startsWith("/supp") && { program }) })
  return { to, name: row[name] }
}

/** The numbers of a period: the total, and those of each organization, program or campaign. */
export const GroupTable = (props: {
  readonly title: string
  readonly grouping: Grouping
  readonly period: Period
  readonly rows: readonly [total: Row, ...groups: ReadonlyArray<NumbersGroup>]
}) => {
  const { title, grouping, period, rows } = props
  const [total] = rows
  return (
    <Table<Row>
      label={title}
      rows={rows}
      columns={{
        [Str.capitalize(grouping)]: (row) => (row === total ? "Total" : nameOf(row, grouping, period)),
        ...Record.map(COLUMNS, ({ of, withBots, list, isShare }) => ({
          number: (row: Row) => (
            <Noted note={isShare && row[of] > 0 && row.sent > 0 ? formatShare(row[of] / row.sent) : ""}>
              {renderValue(linkTo(of, list, row, period))}
              {withBots !== undefined && <> ({renderValue(linkTo(withBots, list, row, period))})</>}
            </Noted>
          ),
        })),
      }}
    />
  )
}

/** Returns the name of a group with a link to its parts. */
const nameOf = (group: Row, grouping: Grouping, period: Period): Value => {
  const { organizationId: organization, programId: program } = group
  const link = (by: Grouping) => withQuery("/numbers", { organization, ...period, by, ...(program && { program }) })
  switch (grouping) {
    case "organization":
      return { to: link("program"), name: group.organization! }
    case "program":
      return { to: link("campaign"), name: group.program!, note: group.organization! }
    case "campaign":
      return { id: group.campaignId!, name: group.campaign, note: `${group.program}, ${group.organization}` }
  }
}

/** The recipient domains with the most bounces in all campaigns. */
export const DomainsTable = (props: { readonly domains: ReadonlyArray<BouncedDomain> }) => (
  <Table
    label="Domains with the most bounces"
    rows={props.domains}
    empty="No bounces."
    columns={{
      Domain: ({ domain }) => domain,
      Bounced: { number: ({ bounced, campaignId }) => ({ to: recipientsOf(campaignId, "bounced"), name: bounced }) },
      "Share of e-mails": { number: ({ bounced, sent }) => formatShare(bounced / (bounced + sent)) },
      Reasons: describeBounces,
      "Last replies": ({ replies, lastReplyAt }) =>
        replies.length === 0 ? (
          "–"
        ) : (
          <>
            {[...new Set(replies)].map((reply) => (
              <div key={reply}>{isolated(reply)}</div>
            ))}
            <Time at={lastReplyAt} />
          </>
        ),
      "Most in campaign": ({ campaignId, campaign, campaigns }) => ({
        id: campaignId,
        name: campaign,
        note: campaigns > 1 ? `of ${formatCount(campaigns)} campaigns` : "",
      }),
    }}
  />
)
