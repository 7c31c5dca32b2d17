import type { Discrepancy } from "@outreach/domain/digest/DigestRepository"
import { verifyDigest } from "@outreach/domain/digest/verifyDigest"
import { Partitions } from "@outreach/postgres/Partitions"
import { reading } from "../Declaration.ts"
import { organizationId } from "../inputs/filters.ts"
import { described, optional } from "../inputs/Input.ts"
import { calendarDate } from "../inputs/times.ts"
import { formatCount } from "../output/format.ts"
import { formatRows, print, printToStderr } from "../output/Output.ts"
import { refuse } from "../output/refuse.ts"

/** `ops digest verify` */
export const verify = reading({
  about: "Recount dates from every event and qualification, and compare the counts with the digest",
  examples: [
    "ops digest verify --date 2026-11-20",
    "ops digest verify --organization org_… --date 2026-11-01 --to 2026-11-20",
  ],
  input: {
    organizationId: optional(described(organizationId, "Only this organization, org_…")),
    date: calendarDate("The date in UTC, or the first of a range"),
    to: optional(calendarDate("The last date of a range")),
  },
  *run({ organizationId, date, to = date }) {
    const { dates, discrepancies } = yield* verifyDigest(date, to, organizationId)
    const keptFrom = yield* Partitions.use(({ eventsKeptFrom }) => eventsKeptFrom)
    if (keptFrom !== null && date < keptFrom.slice(0, 10)) {
      yield* printToStderr(
        `No events are kept from before ${keptFrom.slice(0, 10)}: of the dates before, the qualifications alone were recounted.`,
      )
    }
    if (discrepancies.length > 0) {
      yield* printToStderr(formatRows<Discrepancy>(discrepancies, ["date", "programId", "count", "kept", "counted"]))
      const { length } = discrepancies
      const sentence = `${formatCount(length, "count")} of the digest ${length === 1 ? "differs" : "differ"} from the recount of the events and the qualifications.`
      return yield* refuse("DigestDiffers", sentence, { discrepancies })
    }
    yield* print(
      { dates, discrepancies },
      () => `The digest is right for ${formatCount(dates, "date")}: its counts equal the recount.`,
    )
  },
})
