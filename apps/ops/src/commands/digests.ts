import { DigestReader } from "@outreach/backoffice/digest/DigestReader"
import type { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { datesBetween } from "@outreach/domain/digest/DateRange"
import type { DigestRecord, FunnelStage } from "@outreach/domain/digest/Digest"
import { DigestRepository, type Discrepancy } from "@outreach/domain/digest/DigestRepository"
import { MAX_DATES, verifyDigest } from "@outreach/domain/digest/verifyDigest"
import { ProgramId } from "@outreach/domain/Identifier"
import { WHEN_REACHED } from "@outreach/domain/programs/Program"
import { DigestRepositoryPg } from "@outreach/postgres/digest/DigestRepositoryPg"
import { Partitions } from "@outreach/postgres/Partitions"
import { Effect, Layer, Struct } from "effect"
import { group, reading } from "../Declaration.ts"
import { calendarDate, dateArgument, organizationId } from "../inputs/filters.ts"
import { described, flag, optional } from "../inputs/Input.ts"
import { formatCell, formatCount, formatRows, formatTable, printToStderr, refuse } from "../output/Output.ts"

const programId = flag(ProgramId, "The program's id, pgm_…")

const show = reading({
  about: "Show each program's funnel, outreach counts and quotas of a date",
  examples: ["ops digests show 2026-11-20 --organization org_…"],
  input: { date: dateArgument("The date in UTC"), organizationId },
  *run({ organizationId, date }) {
    return { date, data: yield* DigestRepository.use(({ read }) => read(organizationId, date)) }
  },
  format: ({ date, data }) => formatDigest(date, data),
})

const list = reading({
  about: "List a program's counts of each date of a range",
  examples: ["ops digests list --organization org_… --program pgm_… --from 2026-11-01 --to 2026-11-20"],
  input: {
    organizationId,
    programId,
    from: calendarDate("The first date in UTC"),
    to: calendarDate("The last date"),
  },
  *run({ organizationId, programId, from, to }) {
    yield* Effect.fromResult(datesBetween(from, to, MAX_DATES))
    const days = yield* DigestReader.use(({ days }) => days(organizationId, programId, from, to))
    return days.map(({ outreach, funnel, ...day }) => ({
      ...{ ...day, outreach, funnel, ...Struct.pick(outreach, ["sent", "bounced", "opened", "clicked"]) },
      recipientsPublished: outreach.recipients_published,
      accounts: funnel.date.account_created,
      learners: funnel.date.learner_qualified,
      completers: funnel.date.completer_qualified,
    }))
  },
  columns: [
    ...(["date", "recipientsPublished", "sent", "bounced", "opened", "clicked"] as const),
    ...(["accounts", "learners", "completers"] as const),
  ],
})

const verify = reading({
  about: "Recount dates from every event and qualification, and compare the counts with the digest",
  examples: ["ops digests verify 2026-11-20", "ops digests verify 2026-11-01 --organization org_… --to 2026-11-20"],
  input: {
    organizationId: optional(described(organizationId, "Only this organization, org_…")),
    date: dateArgument("The date in UTC, or the first of a range"),
    to: optional(calendarDate("The last date of a range")),
  },
  *run({ organizationId, date, to = date }) {
    const { dates, discrepancies } = yield* verifyDigest(date, to, organizationId)
    const keptFrom = yield* Partitions.use(({ eventsKeptFrom }) => eventsKeptFrom)
    const kept = keptFrom !== null && date < keptFrom.slice(0, 10) ? { eventsKeptFrom: keptFrom } : {}
    if (kept.eventsKeptFrom !== undefined) {
      yield* printToStderr(
        `No events are kept from before ${kept.eventsKeptFrom.slice(0, 10)}: for earlier dates, only the qualifications were recounted.`,
      )
    }
    if (discrepancies.length > 0) {
      yield* printToStderr(formatRows<Discrepancy>(discrepancies, ["date", "programId", "count", "kept", "counted"]))
      const { length } = discrepancies
      const sentence = `${formatCount(length, "count")} of the digest ${length === 1 ? "differs" : "differ"} from the recount of the events and the qualifications.`
      return yield* refuse("DigestDiffers", sentence, { discrepancies, ...kept })
    }
    return { dates, discrepancies, ...kept }
  },
  format: ({ dates }) => `The digest is right for ${formatCount(dates, "date")}: its counts equal the recount.`,
})

export const digests = group({
  about: "The partners' daily digests",
  commands: { list, show, verify },
  services: Layer.mergeAll(DigestRepositoryPg, DigestReader.layer, Partitions.layer),
})

const STAGES: ReadonlyArray<FunnelStage> = ["account_created", "learner_qualified", "completer_qualified"]
const TOTALS = ["recipients_published", "sent", "bounced"] as const
const HITS = ["opened", "clicked"] as const

/** Formats the digest of a date: for each program a table of the funnel with bars, and a table of the outreach counts. */
const formatDigest = (date: CalendarDate, records: ReadonlyArray<DigestRecord>): string =>
  records.length === 0
    ? "None."
    : records.map((record) => [headOf(date, record), funnelOf(record), outreachOf(record)].join("\n\n")).join("\n\n\n")

const headOf = (date: CalendarDate, { program: { id, name, slug, status } }: DigestRecord): string =>
  `${formatCell(name)} (${slug}, ${status})\n${id} on ${date} UTC`

const funnelOf = ({ funnel, quota }: DigestRecord): string => {
  const longest = Math.max(...STAGES.map((stage) => funnel.cumulative[stage]))
  return formatTable(
    ["funnel", "date", "cumulative", "target", "when_reached", "reached_at", ""],
    STAGES.map((stage) => {
      const { target, reached_at } = stage === "account_created" ? { target: null, reached_at: null } : quota[stage]
      const whenReached = stage === "account_created" || target === null ? null : WHEN_REACHED[stage]
      const cumulative = funnel.cumulative[stage]
      return [stage, funnel.date[stage], cumulative, target, whenReached, reached_at, formatBar(cumulative, longest)]
    }),
  )
}

const outreachOf = ({ outreach }: DigestRecord): string =>
  formatTable(
    ["outreach", "all", "unique", "without_bots", "unique"],
    [
      ...TOTALS.map((count) => [count, outreach[count], null, null, null]),
      ...HITS.map((hit) => {
        const { without_suspected_bots: unsuspected } = outreach
        return [hit, outreach[hit], outreach[`unique_${hit}`], unsuspected[hit], unsuspected[`unique_${hit}`]]
      }),
    ],
  )

/** The width of the longest bar in terminal cells. */
const WIDTH = 30

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"] as const

/** Draws a count as a bar, relative to the longest bar of its chart. Rounds to an eighth of a cell; any count above 0 is visible. */
export const formatBar = (count: number, longest: number): string => {
  if (count === 0) return ""
  const eighths = Math.max(1, Math.round((8 * WIDTH * count) / longest))
  return "█".repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]
}
