import type { Discrepancy } from "@outreach/domain/digest/DigestRepository"
import { verifyDigest } from "@outreach/domain/digest/verifyDigest"
import { Partitions } from "@outreach/postgres/Partitions"
import { Schema } from "effect"
import { reading } from "../Declaration.ts"
import { organizationId } from "../inputs/filters.ts"
import { described, optional } from "../inputs/Input.ts"
import { calendarDate } from "../inputs/times.ts"
import { formatCount } from "../output/format.ts"
import { formatRows, print, printToStderr } from "../output/Output.ts"

/** A count of the digest differs from the recount of its sources. */
class DigestDiffers extends Schema.TaggedError<DigestDiffers>()("DigestDiffers", {
  discrepancies: Schema.Array(
    Schema.Struct({
      organizationId: Schema.String,
      programId: Schema.String,
      date: Schema.String,
      count: Schema.String,
      kept: Schema.Int,
      counted: Schema.Int,
    }),
  ),
}) {
  override get message(): string {
    const { length } = this.discrepancies
    return `${formatCount(length, "count")} of the digest ${length === 1 ? "differs" : "differ"} from the recount of the events and the qualifications.`
  }
}

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
      return yield* new DigestDiffers({ discrepancies })
    }
    yield* print(
      { dates, discrepancies },
      () => `The digest is right for ${formatCount(dates, "date")}: its counts equal the recount.`,
    )
  },
})
