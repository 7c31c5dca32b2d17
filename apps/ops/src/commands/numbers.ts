import {
  DOMAIN_COLUMNS,
  GROUPINGS,
  NUMBER_NAMES,
  NumbersReader,
  type NumbersTotals,
} from "@outreach/backoffice/numbers/NumbersReader"
import { numbersCsv } from "@outreach/backoffice/numbers/numbersCsv"
import { ProgramId } from "@outreach/domain/Identifier"
import { describeChange } from "@outreach/domain/numbers/describeChange"
import { PERIODS } from "@outreach/domain/numbers/Period"
import { Struct } from "effect"
import { group, reading } from "../Declaration.ts"
import { MAX_ROWS, organizationId } from "../inputs/filters.ts"
import { choice, described, flag, optional, withDefault } from "../inputs/Input.ts"
import { formatRows, formatTable, snakeName } from "../output/Output.ts"
import { limit } from "../output/paging.ts"

const filter = {
  organizationId: optional(described(organizationId, "Only this organization, org_…")),
  programId: optional(flag(ProgramId, "Only this program, pgm_…")),
}

const show = reading({
  about:
    "Show what was sent, opened, qualified and complained about: today and yesterday by the same hour, this week and last week",
  examples: ["ops numbers show", "ops numbers show --organization org_… --by campaign --period last_week --output csv"],
  input: {
    ...filter,
    by: withDefault(choice(GROUPINGS, "By what the period is divided (default program)"), "program"),
    period: withDefault(choice(Struct.keys(PERIODS), "The period that is divided (default today)"), "today"),
    limit,
  },
  *run({ by, period, limit, ...filter }) {
    const reader = yield* NumbersReader
    const numbers = yield* reader.totals(filter)
    const groups = yield* reader.groups(filter, by, numbers.periods[period], limit)
    return { filter, ...numbers, by, period, groups }
  },
  csv: ({ filter, period, groups, ...numbers }) => numbersCsv(filter, numbers, { period, groups }),
  format: ({ by, period, groups, ...numbers }) => [
    formatTotals(numbers),
    `${PERIODS[period]}, by ${by}:`,
    formatRows(groups, [by, ...NUMBER_NAMES]),
    "A day begins at midnight in UTC, and a week on Monday.",
  ],
})

export const numbers = group({
  about: "What a manager asks: how many of everything, in which period",
  commands: { show },
  services: NumbersReader.layer,
})

const list = reading({
  about:
    "List the recipient domains at which most e-mails bounced, over all campaigns, with the last replies of their servers",
  examples: ["ops bounced-domains list", "ops bounced-domains list --program pgm_… --output csv"],
  input: filter,
  run: (filter) => NumbersReader.use(({ bouncedDomains }) => bouncedDomains(filter, MAX_ROWS)),
  columns: DOMAIN_COLUMNS,
})

export const bouncedDomains = group({
  about: "The recipient domains at which most e-mails bounced",
  commands: { list },
  services: NumbersReader.layer,
})

const formatTotals = ({ totals }: NumbersTotals): string =>
  formatTable(
    [
      "",
      "today",
      "by_hour",
      "yesterday_by_hour",
      "",
      "yesterday",
      "this_week",
      "by_hour",
      "last_week_by_hour",
      "",
      "last_week",
    ],
    NUMBER_NAMES.map((name) => {
      const change = (count: "today" | "this_week", before: "yesterday" | "last_week") => [
        ...[totals[count][name], totals[`${count}_by_hour`][name], totals[`${before}_by_hour`][name]],
        ...[
          describeChange(totals[`${count}_by_hour`][name], totals[`${before}_by_hour`][name]).text,
          totals[before][name],
        ],
      ]
      return [snakeName(name), ...change("today", "yesterday"), ...change("this_week", "last_week")]
    }),
  )
