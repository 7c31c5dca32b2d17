import { DigestRepository } from "@outreach/domain/digest/DigestRepository"
import { DigestRepositoryPg } from "@outreach/postgres/digest/DigestRepositoryPg"
import { Partitions } from "@outreach/postgres/Partitions"
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { reading } from "../audit/Access.ts"
import { formatDigest } from "../digest/formatDigest.ts"
import { verify } from "../digest/verify.ts"
import { organization } from "../inputs/commonFlags.ts"
import { calendarDate } from "../inputs/times.ts"
import { print } from "../output/Output.ts"

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

/** `ops digest …` */
export const digest = Command.make("digest").pipe(
  Command.withDescription("The partners' daily digests"),
  Command.withSubcommands([show, verify]),
  Command.provide(Layer.merge(DigestRepositoryPg, Partitions.layer)),
)
