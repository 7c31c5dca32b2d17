import type { Discrepancy } from "@outreach/domain/digest/DigestRepository"
import { verifyDigest } from "@outreach/domain/digest/verifyDigest"
import { Partitions } from "@outreach/postgres/Partitions"
import { Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { reading } from "../audit/Access.ts"
import { organization } from "../inputs/commonFlags.ts"
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
export const verify = reading(
  "verify",
  {
    organization: organization.pipe(Flag.withDescription("Only this organization, org_…"), Flag.optional),
    date: calendarDate("date", "The date in UTC, or the first of a range"),
    to: calendarDate("to", "The last date of a range").pipe(Flag.optional),
  },
  Effect.fn("ops.digest.verify")(function* ({ organization, date, to }) {
    const last = Option.getOrElse(to, () => date)
    const { dates, discrepancies } = yield* verifyDigest(date, last, Option.getOrUndefined(organization))
    const keptFrom = yield* (yield* Partitions).eventsKeptFrom
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
  }),
).pipe(
  Command.withDescription("Recount dates from every event and qualification, and compare the counts with the digest"),
  Command.withExamples([
    { command: "ops digest verify --date 2026-11-20" },
    { command: "ops digest verify --organization org_… --date 2026-11-01 --to 2026-11-20" },
  ]),
)
