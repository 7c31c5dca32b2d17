import { DigestReader } from "@outreach/backoffice/digest/DigestReader"
import { datesBetween } from "@outreach/domain/digest/DateRange"
import { DigestRepository } from "@outreach/domain/digest/DigestRepository"
import { forecastQuota } from "@outreach/domain/digest/forecastQuota"
import { MAX_DATES } from "@outreach/domain/digest/verifyDigest"
import { ProgramId } from "@outreach/domain/Identifier"
import { ProgramNotFound } from "@outreach/domain/programs/ProgramRepository"
import { DigestRepositoryPg } from "@outreach/postgres/digest/DigestRepositoryPg"
import { Partitions } from "@outreach/postgres/Partitions"
import { Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { reading } from "../audit/Access.ts"
import { formatDays, formatForecasts } from "../digest/formatDays.ts"
import { formatDigest } from "../digest/formatDigest.ts"
import { verify } from "../digest/verify.ts"
import { organization } from "../inputs/commonFlags.ts"
import { parsedFlag } from "../inputs/parsedInput.ts"
import { calendarDate } from "../inputs/times.ts"
import { print } from "../output/Output.ts"

const program = parsedFlag("program", ProgramId, "The program's id, pgm_…")

const show = reading(
  "show",
  {
    organization,
    date: calendarDate("date", "The date in UTC"),
  },
  Effect.fn("ops.digest.show")(function* ({ organization, date }) {
    const data = yield* (yield* DigestRepository).read(organization, date)
    yield* print({ date, data }, () => formatDigest(date, data))
  }),
).pipe(
  Command.withDescription("Show each program's funnel, outreach counts and quotas of a date"),
  Command.withExamples([{ command: "ops digest show --organization org_… --date 2026-11-20" }]),
)

const days = reading(
  "days",
  {
    organization,
    program,
    from: calendarDate("from", "The first date in UTC"),
    to: calendarDate("to", "The last date"),
  },
  Effect.fn("ops.digest.days")(function* ({ organization, program, from, to }) {
    yield* Effect.fromResult(datesBetween(from, to, MAX_DATES))
    const days = yield* (yield* DigestReader).days(organization, program, from, to)
    yield* print({ data: days }, () => formatDays(days))
  }),
).pipe(
  Command.withDescription("Show a program's counts of each date of a range"),
  Command.withExamples([
    { command: "ops digest days --organization org_… --program pgm_… --from 2026-11-01 --to 2026-11-20" },
  ]),
)

const forecast = reading(
  "forecast",
  {
    organization,
    program,
    by: calendarDate("by", "By when the targets are wanted (default: when the last campaign ends)").pipe(Flag.optional),
  },
  Effect.fn("ops.digest.forecast")(function* ({ organization, program, by }) {
    const progress = yield* (yield* DigestReader).progress(organization, program)
    if (progress === undefined) return yield* new ProgramNotFound({ programId: program })
    const wanted = Option.getOrElse(by, () => progress.campaignsEnd)
    const forecasts = {
      learner_qualified: forecastQuota({ ...progress.learner_qualified, by: wanted }),
      completer_qualified: forecastQuota({ ...progress.completer_qualified, by: wanted }),
    }
    yield* print({ by: wanted, ...forecasts }, () => formatForecasts(progress, forecasts, wanted))
  }),
).pipe(
  Command.withDescription("Forecast when a program reaches its targets, from the mean of the last seven days"),
  Command.withExamples([{ command: "ops digest forecast --organization org_… --program pgm_… --by 2026-12-31" }]),
)

/** `ops digest …` */
export const digest = Command.make("digest").pipe(
  Command.withDescription("The partners' daily digests"),
  Command.withSubcommands([show, days, forecast, verify]),
  Command.provide(Layer.mergeAll(DigestRepositoryPg, DigestReader.layer, Partitions.layer)),
)
