import { formatCount, formatShare } from "@outreach/backoffice/format"
import type {
  BouncedDomain,
  Grouping,
  NumberName,
  Numbers,
  NumbersGroup,
  Period,
} from "@outreach/backoffice/numbers/NumbersReader"
import { addDays } from "@outreach/domain/digest/DateRange"
import { Record, String as Str } from "effect"
import { Table, withQuery } from "../../components/layout.tsx"
import { isolated, Noted, renderValue, Time, type Value } from "../../components/values.tsx"
import { listCountedBy, recipientsOf } from "../campaigns/campaignsPages.tsx"
import { describeBounces } from "../campaigns/DomainTable.tsx"

const EVENTS = "/events?type=outreach."
const APPLIED = "/inbox?applied=yes&type=clinician."

/** The list of each number for a period. */
const LISTS: Readonly<Record<NumberName, string>> = {
  published: `${EVENTS}recipients_published`,
  sent: `${EVENTS}email_sent`,
  bounced: `${EVENTS}email_bounced`,
  unsuspectedOpened: `${EVENTS}email_opened`,
  opened: `${EVENTS}email_opened`,
  unsuspectedClicked: `${EVENTS}email_clicked`,
  clicked: `${EVENTS}email_clicked`,
  accounts: `${APPLIED}account_created`,
  learners: `${APPLIED}learner_qualified`,
  completers: `${APPLIED}completer_qualified`,
  complained: "/suppressions?reason=complained",
  unsubscribed: "/suppressions?reason=unsubscribed",
}

/** The columns. A number with bots follows in brackets, because separate columns would make the table too wide. */
const COLUMNS: Readonly<Record<string, { of: NumberName; withBots?: NumberName; isShareOfSent?: true }>> = {
  Published: { of: "published" },
  Sent: { of: "sent" },
  Bounced: { of: "bounced", isShareOfSent: true },
  "Opened (with bots)": { of: "unsuspectedOpened", withBots: "opened", isShareOfSent: true },
  "Clicked (with bots)": { of: "unsuspectedClicked", withBots: "clicked", isShareOfSent: true },
  Accounts: { of: "accounts" },
  Learners: { of: "learners" },
  Completers: { of: "completers" },
  Complaints: { of: "complained", isShareOfSent: true },
  Unsubscribed: { of: "unsubscribed", isShareOfSent: true },
}

/** The numbers of a group, or of all groups. */
type Row = Numbers & Pick<NumbersGroup, "organizationId" | "programId" | "campaignId"> & Partial<NumbersGroup>

/** Returns a number with a link to its list. The log of events has no programs, so a program's number links to its campaigns. */
const linkTo = (name: NumberName, row: Row, period: Period): Value => {
  if (row[name] === 0) return 0
  const list = LISTS[name]
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
        ...Record.map(COLUMNS, ({ of, withBots, isShareOfSent }) => ({
          number: (row: Row) => (
            <Noted note={isShareOfSent && row[of] > 0 && row.sent > 0 ? formatShare(row[of] / row.sent) : ""}>
              {renderValue(linkTo(of, row, period))}
              {withBots !== undefined && <> ({renderValue(linkTo(withBots, row, period))})</>}
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
