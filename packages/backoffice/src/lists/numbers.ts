import { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { choice, field, organizationFilter, programFilter } from "../operations/Field.ts"

/** The groupings of the numbers. */
export const GROUPINGS = ["organization", "program", "campaign"] as const

/** The filters of the console's numbers, by default the programs of today. */
export const numberFilters = {
  organizationId: organizationFilter,
  programId: programFilter,
  by: choice("Group by", GROUPINGS),
  from: field(CalendarDate, "From (UTC)", { kind: "date" }),
  to: field(CalendarDate, "To", { kind: "date" }),
}
