import { csvTable } from "@outreach/backoffice/csv/csvTable"
import { formatCount, formatShare } from "@outreach/backoffice/format"
import {
  type BouncedDomain,
  DOMAIN_COLUMNS,
  GROUP_COLUMNS,
  type Grouping,
  type NumberName,
  type Numbers,
  type NumbersGroup,
  NumbersReader,
  numberFilters,
  type Period,
} from "@outreach/backoffice/numbers/NumbersReader"
import { oneOf } from "@outreach/backoffice/operations/Field"
import { checkIds } from "@outreach/backoffice/operators/ObjectFinder"
import { addDays, type CalendarDate, dateAt } from "@outreach/domain/digest/Digest"
import { Effect, Record, String as Str, Struct } from "effect"
import { FilterBar } from "../../components/forms.tsx"
import { Chips, LinkLine, Page, Section, Table, withQuery } from "../../components/layout.tsx"
import { isolated, Noted, renderValue, Time, type Value } from "../../components/values.tsx"
import { optionsOf, readObjects } from "../../http/listObjects.ts"
import { textFile } from "../../http/listPage.tsx"
import { definePage, defineResource } from "../../http/Route.ts"
import { type InputsOf, pickDefined } from "../../view/inputs.ts"
import { listCountedBy, recipientsOf } from "../campaigns/campaignsPages.tsx"
import { describeBounces } from "../campaigns/DomainTables.tsx"

const MAX_GROUPS = 50
const MAX_DOMAINS = 20
const MAX_GROUPS_OF_CSV = 1000
const MAX_DOMAINS_OF_CSV = 100

const filters = Struct.renameKeys(numberFilters, { organizationId: "organization", programId: "program" })

/** Returns the choice of the filters: by default the programs of today. */
const chosenBy = ({ organization, program, by = "program", ...dates }: InputsOf<typeof filters>, now: number) => {
  const to = dates.to ?? dateAt(now)
  const period: Period = { from: dates.from ?? to, to }
  return {
    filter: pickDefined({ organizationId: organization, programId: program }),
    by,
    period,
    query: { organization, program, by, ...period },
  }
}

/** The periods with a link. A week starts on Monday. */
const periodsAt = (now: number): Readonly<Record<string, Period>> => {
  const today = dateAt(now)
  const firstOfMonth = (date: CalendarDate) => `${date.slice(0, 8)}01` as CalendarDate
  const before = (date: CalendarDate) => addDays(date, -1)
  const yesterday = before(today)
  const monday = addDays(today, -((new Date(now).getUTCDay() + 6) % 7))
  const first = firstOfMonth(today)
  return {
    Today: { from: today, to: today },
    Yesterday: { from: yesterday, to: yesterday },
    "This week": { from: monday, to: today },
    "Last week": { from: addDays(monday, -7), to: before(monday) },
    "This month": { from: first, to: today },
    "Last month": { from: firstOfMonth(before(first)), to: before(first) },
  }
}

const numbersPage = definePage("/numbers", {
  inputs: filters,
  run: Effect.fnUntraced(function* (given, { now }) {
    const { filter, by, period, query } = chosenBy(given, now)
    const { organization, program } = query
    const reader = yield* NumbersReader
    const sums = yield* reader.total(filter, period)
    const total = { ...sums, organizationId: organization ?? null, programId: program ?? null, campaignId: null }
    const groups = yield* reader.groups(filter, by, period, MAX_GROUPS)
    if (groups.length === 0) yield* checkIds(filter)
    const domains = yield* reader.bouncedDomains(filter, MAX_DOMAINS)
    const addressOf = (each: Period) => withQuery("/numbers", { ...query, ...each })
    const title = `${period.from === period.to ? period.to : `${period.from} to ${period.to}`}, by ${by}`
    return (
      <Page title="Numbers">
        <FilterBar
          inputs={filters}
          values={query}
          controls={optionsOf(yield* readObjects(numberFilters, filter), filter)}
        />
        <Chips
          label="Periods"
          of={Object.entries(periodsAt(now)).map(([text, each]) => [addressOf(each), text])}
          chosen={addressOf(period)}
        />
        <p>Opens and clicks count each recipient once. Shares are relative to sent e-mails.</p>
        <Section title={title}>
          <GroupTable title={title} grouping={by} period={period} rows={[total, ...groups]} />
          {groups.length === MAX_GROUPS && <p>Only the {MAX_GROUPS} groups with most e-mails are shown.</p>}
          <LinkLine to={withQuery("/numbers/csv", query)}>Download as CSV</LinkLine>
        </Section>
        <Section title="Domains with the most bounces">
          <p>All campaigns, all time.</p>
          <DomainsTable domains={domains} />
          <LinkLine to={withQuery("/numbers/csv", { organization, program, table: "domains" })}>
            Download the domains as CSV
          </LinkLine>
        </Section>
      </Page>
    )
  }),
})

/** With a byte order mark, because Excel otherwise reads names in a different encoding. */
const numbersCsvFile = defineResource("/numbers/csv", {
  inputs: { ...filters, table: oneOf(["numbers", "domains"]) },
  run: Effect.fnUntraced(function* ({ table = "numbers", ...given }, { now }) {
    const { filter, by, period } = chosenBy(given, now)
    const reader = yield* NumbersReader
    const csv =
      table === "domains"
        ? csvTable(DOMAIN_COLUMNS, yield* reader.bouncedDomains(filter, MAX_DOMAINS_OF_CSV))
        : csvTable(GROUP_COLUMNS, yield* reader.groups(filter, by, period, MAX_GROUPS_OF_CSV))
    return textFile(`${table}-${period.from}-${period.to}.csv`, `\uFEFF${csv}`)
  }),
})

export const numbersRoutes = [numbersPage, numbersCsvFile] as const

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
const GroupTable = (props: {
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

const DomainsTable = (props: { readonly domains: ReadonlyArray<BouncedDomain> }) => (
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
