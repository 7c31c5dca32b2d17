import { consistentRead } from "@outreach/backoffice/consistentRead"
import { GROUPINGS, type Grouping, type NumberName, NumbersReader } from "@outreach/backoffice/numbers/NumbersReader"
import { domainsCsv, numbersCsv } from "@outreach/backoffice/numbers/numbersCsv"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { ProgramId } from "@outreach/domain/Identifier"
import { PERIODS, type PeriodName } from "@outreach/domain/numbers/Period"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { Effect, Struct } from "effect"
import { HttpServerResponse } from "effect/http"
import { DayCurve } from "../../components/charts/DayCurve.tsx"
import { formatCount } from "../../components/format.ts"
import { FilterBar } from "../../components/forms.tsx"
import { Page, Section, withQuery } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { choice, field, oneOf, organizationFilter, pickDefined } from "../../http/inputs.ts"
import { definePage, defineResource } from "../../http/Route.ts"
import { ComparisonTable, Difference, DomainsTable, GroupTable, NUMBERS } from "./NumberTables.tsx"

const MAX_GROUPS = 50
const MAX_DOMAINS = 20
const MAX_GROUPS_OF_CSV = 1000
const MAX_DOMAINS_OF_CSV = 100

const filters = {
  organization: organizationFilter,
  program: field(ProgramId, "Program", { kind: "choice", all: "All" }),
  count: choice(
    "Chart of",
    Struct.keys(NUMBERS).map((name) => [name, NUMBERS[name][0]] as const),
  ),
  by: choice("Divided by", GROUPINGS),
  period: choice(
    "In the period",
    Struct.keys(PERIODS).map((name) => [name, PERIODS[name]] as const),
  ),
}

const DEFAULTS = { count: "sent", by: "program", period: "today" } as const satisfies {
  count: NumberName
  by: Grouping
  period: PeriodName
}

const WEEKDAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

const numbersPage = definePage("/numbers", {
  inputs: filters,
  run: Effect.fnUntraced(function* ({ organization, program, ...given }) {
    const { count, by, period } = { ...DEFAULTS, ...pickDefined(given) }
    const scope = { organizationId: organization, programId: program }
    const reader = yield* NumbersReader
    const numbers = yield* reader.totals(scope)
    const { periods } = numbers
    const hours = yield* reader.hours(scope, { from: periods.yesterday.from, to: periods.today_by_hour.to })
    const counts = hours.map((hour) => hour[count])
    const groups = yield* reader.groups(scope, by, periods[period], MAX_GROUPS)
    const domains = yield* reader.bouncedDomains(scope, MAX_DOMAINS)
    const chosen = { organization, program, by, period }
    const hour = periods.today_by_hour.to.slice(11, 16)
    const weekday = WEEKDAYS[new Date(periods.this_week_by_hour.to).getUTCDay()]
    return (
      <Page
        title="Numbers"
        commands={[
          ops("numbers show", chosen),
          ops("numbers show", { ...chosen, output: "csv" }),
          ops("bounced-domains list", { organization, program }),
        ]}
      >
        <FilterBar
          inputs={filters}
          values={{ ...chosen, count }}
          controls={{
            organization: { options: yield* (yield* OrganizationReader).list },
            program: { options: yield* (yield* ProgramRepository).list(organization) },
          }}
        />
        <p>
          {NUMBERS[count][0]} today by {hour} UTC, the last whole hour:{" "}
          {formatCount(numbers.totals.today_by_hour[count])},{" "}
          <Difference count={numbers.totals.today_by_hour[count]} before={numbers.totals.yesterday_by_hour[count]} /> on
          yesterday by this hour. A day begins at midnight in UTC, and a week on Monday. Opens and clicks count each
          recipient once, at the first one.
        </p>
        <DayCurve
          title={`${NUMBERS[count][0]}, today and yesterday`}
          yesterday={counts.slice(0, 24)}
          today={counts.slice(24)}
          empty="Nothing was counted today and yesterday. The course of today stands here beside that of yesterday."
        />
        <ComparisonTable
          title="Today and yesterday"
          periods={["today", "today_by_hour", "yesterday_by_hour", "yesterday"]}
          headers={["Today so far", "Change by then", `By ${hour}`, `Yesterday by ${hour}`, "Yesterday"]}
          numbers={numbers}
          scope={scope}
        />
        <ComparisonTable
          title="This week and last week"
          periods={["this_week", "this_week_by_hour", "last_week_by_hour", "last_week"]}
          headers={[
            "This week so far",
            "Change by then",
            `By ${weekday} ${hour}`,
            `Last week by ${weekday} ${hour}`,
            "Last week",
          ]}
          numbers={numbers}
          scope={scope}
        />
        <Section title={`${PERIODS[period]}, by ${by}`}>
          <GroupTable
            title={`${PERIODS[period]}, by ${by}`}
            grouping={by}
            period={period}
            groups={groups}
            periods={periods}
          />
          {groups.length === MAX_GROUPS && <p>These are the {MAX_GROUPS} with most e-mails.</p>}
          <p>
            <a href={withQuery("/numbers/csv", chosen)}>Download these numbers as CSV</a>
          </p>
        </Section>
        <Section title="Domains with the most bounces">
          <p>Over all campaigns, since the first one.</p>
          <DomainsTable domains={domains} />
          <p>
            <a href={withQuery("/numbers/csv", { organization, program, table: "domains" })}>
              Download the domains as CSV
            </a>
          </p>
        </Section>
      </Page>
    )
  }),
})

/** With a byte order mark, without which Excel reads names in another encoding. */
const numbersCsvFile = defineResource("/numbers/csv", {
  inputs: { ...Struct.omit(filters, ["count"]), table: oneOf(["numbers", "domains"]) },
  run: ({ organization, program, table = "numbers", ...given }) =>
    consistentRead(
      Effect.gen(function* () {
        const { by, period } = { ...DEFAULTS, ...pickDefined(given) }
        const scope = { organizationId: organization, programId: program }
        const reader = yield* NumbersReader
        const numbers = yield* reader.totals(scope)
        const csv =
          table === "domains"
            ? domainsCsv(yield* reader.bouncedDomains(scope, MAX_DOMAINS_OF_CSV))
            : numbersCsv(scope, numbers, {
                period,
                groups: yield* reader.groups(scope, by, numbers.periods[period], MAX_GROUPS_OF_CSV),
              })
        return HttpServerResponse.text(`\uFEFF${csv}`, {
          contentType: "text/csv; charset=utf-8",
          headers: { "content-disposition": `attachment; filename="${table}-${numbers.now.slice(0, 13)}.csv"` },
        })
      }),
    ),
})

export const numbersRoutes = [numbersPage, numbersCsvFile] as const
