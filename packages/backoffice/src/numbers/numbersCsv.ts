import { PERIODS, type PeriodName } from "@outreach/domain/numbers/Period"
import { Struct } from "effect"
import { csvTable } from "../csv/csvTable.ts"
import {
  type BouncedDomain,
  DOMAIN_COLUMNS,
  NUMBER_NAMES,
  type NumbersFilter,
  type NumbersGroup,
  type NumbersTotals,
} from "./NumbersReader.ts"

const NAMES = ["organizationId", "organization", "programId", "program", "campaignId", "campaign"] as const
const COLUMNS = ["period", "from", "to", ...NAMES, ...NUMBER_NAMES] as const

/** Writes the numbers of every period, and then those of one period by group. */
export const numbersCsv = (
  filter: NumbersFilter,
  { periods, totals }: NumbersTotals,
  { period, groups }: { readonly period: PeriodName; readonly groups: ReadonlyArray<NumbersGroup> },
): string => {
  const names = Object.fromEntries(NAMES.map((name) => [name, null])) as Record<(typeof NAMES)[number], null>
  const whole = { ...names, organizationId: filter.organizationId ?? null, programId: filter.programId ?? null }
  return csvTable(COLUMNS, [
    ...Struct.keys(PERIODS).map((name) => ({ period: name, ...periods[name], ...whole, ...totals[name] })),
    ...groups.map((group) => ({ period, ...periods[period], ...group })),
  ])
}

export const domainsCsv = (domains: ReadonlyArray<BouncedDomain>): string => csvTable(DOMAIN_COLUMNS, domains)
