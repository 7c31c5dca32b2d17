import { Effect } from "effect"
import type { OrganizationId } from "../Identifier.ts"
import { Transaction } from "../Transaction.ts"
import type { CalendarDate } from "./CalendarDate.ts"
import { datesBetween } from "./DateRange.ts"
import { DigestRepository } from "./DigestRepository.ts"

/** Maximum number of dates per recount. */
export const MAX_DATES = 1000

/** Recounts a range of dates for one organization or all. Returns the number of dates and the differing counts. */
export const verifyDigest = Effect.fn("Digest.verify")(function* (
  first: CalendarDate,
  last: CalendarDate,
  organizationId?: OrganizationId,
) {
  const dates = yield* Effect.fromResult(datesBetween(first, last, MAX_DATES))
  const { recount } = yield* DigestRepository
  const { run } = yield* Transaction
  const found = yield* Effect.forEach(dates, (date) => run(recount(date, organizationId)))
  return { dates: dates.length, discrepancies: found.flat() }
})
