import { csvTable } from "@outreach/backoffice/csv/csvTable"
import {
  DOMAIN_COLUMNS,
  GROUP_COLUMNS,
  NumbersReader,
  numberFilters,
  type Period,
} from "@outreach/backoffice/numbers/NumbersReader"
import { oneOf } from "@outreach/backoffice/operations/Field"
import { checkIds } from "@outreach/backoffice/operators/ObjectFinder"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { addDays, type CalendarDate, dateAt } from "@outreach/domain/digest/Digest"
import { ProgramRepository } from "@outreach/domain/programs/Programs"
import { Effect, Struct } from "effect"
import { FilterBar } from "../../components/forms.tsx"
import { Chips, LinkLine, Page, Section, withQuery } from "../../components/layout.tsx"
import { textFile } from "../../http/listPage.tsx"
import { definePage, defineResource } from "../../http/Route.ts"
import type { InputsOf } from "../../view/inputs.ts"
import { DomainsTable, GroupTable } from "./NumberTables.tsx"

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
    filter: { organizationId: organization, programId: program },
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
    const title = `${period.from === period.to ? period.to : `${period.from} to ${period.to}`}, by ${by}`
    return (
      <Page title="Numbers">
        <FilterBar
          inputs={filters}
          values={query}
          controls={{
            organization: { options: yield* (yield* OrganizationReader).list },
            program: { options: yield* (yield* ProgramRepository).list(organization) },
          }}
        />
        <Chips
          label="Periods"
          chips={Object.entries(periodsAt(now)).map(([text, each]) => ({
            text,
            to: withQuery("/numbers", { ...query, ...each }),
            isChosen: each.from === period.from && each.to === period.to,
          }))}
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
