import { CalendarDate } from "@outreach/domain/digest/Digest"
import { choice, field, filterBy } from "../operations/Field.ts"

/** The groupings of the numbers. */
export const GROUPINGS = ["organization", "program", "campaign"] as const

/** The filters of the console's numbers, by default the programs of today. */
export const numberFilters = {
  organizationId: filterBy.organization,
  programId: filterBy.program,
  by: choice("Group by", GROUPINGS),
  from: field(CalendarDate, "From (UTC)", { kind: "date" }),
  to: field(CalendarDate, "To", { kind: "date" }),
}
