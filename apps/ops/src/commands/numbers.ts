import { csvTable } from "@outreach/backoffice/csv/csvTable"
import {
  DOMAIN_COLUMNS,
  GROUP_COLUMNS,
  GROUPINGS,
  NUMBER_NAMES,
  type NumbersGroup,
  NumbersReader,
} from "@outreach/backoffice/numbers/NumbersReader"
import { dateAt } from "@outreach/domain/digest/DateRange"
import { ProgramId } from "@outreach/domain/Identifier"
import { Clock } from "effect"
import { group, reading } from "../Declaration.ts"
import { calendarDate, MAX_ROWS, organizationId } from "../inputs/filters.ts"
import { choice, described, flag, optional, withDefault } from "../inputs/Input.ts"
import { formatRows } from "../output/Output.ts"
import { limit } from "../output/paging.ts"

const filter = {
  organizationId: optional(described(organizationId, "Only this organization, org_…")),
  programId: optional(flag(ProgramId, "Only this program, pgm_…")),
}

const show = reading({
  about: "Show what was sent, opened, qualified and complained about on one or several dates, in total and divided",
  examples: [
    "ops numbers show",
    "ops numbers show --organization org_… --by campaign --from 2026-11-01 --to 2026-11-20 --output csv",
  ],
  input: {
    ...filter,
    by: withDefault(choice(GROUPINGS, "By what the numbers are divided (default program)"), "program"),
    from: optional(calendarDate("The first date in UTC (default the last)")),
    to: optional(calendarDate("The last date (default today)")),
    limit,
  },
  *run({ by, limit, to, from, ...filter }) {
    const last = to ?? dateAt(yield* Clock.currentTimeMillis)
    const period = { from: from ?? last, to: last }
    const reader = yield* NumbersReader
    const total = yield* reader.total(filter, period)
    return { ...period, by, total, groups: yield* reader.groups(filter, by, period, limit) }
  },
  csv: ({ groups }) => csvTable(GROUP_COLUMNS, groups),
  format: ({ by, from, to, total, groups }) => {
    const rows: ReadonlyArray<Partial<NumbersGroup>> = [{ ...total, [by]: "in total" }, ...groups]
    return [`${from} to ${to} (UTC), by ${by}:`, formatRows(rows, [by, ...NUMBER_NAMES])]
  },
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
