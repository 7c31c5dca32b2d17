import { DescribedError } from "@outreach/domain/DescribedError"
import {
  addDays,
  CalendarDate,
  type DigestRecord,
  DigestRepository,
  FunnelCounts,
  type FunnelStage,
  OutreachCounts,
} from "@outreach/domain/digest/Digest"
import { type OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { WHEN_REACHED } from "@outreach/domain/programs/Program"
import { Timestamp } from "@outreach/domain/Timestamp"
import { reader } from "@outreach/postgres/adapter"
import { funnelCounts, OUTREACH_COUNTS } from "@outreach/postgres/digest/digestColumns"
import { rowsOf } from "@outreach/postgres/rowsOf"
import { drawBar } from "@outreach/process/progress"
import { Schema, Struct } from "effect"
import { field, organizationId, required } from "./Field.ts"
import { count, inOps, list, text } from "./List.ts"
import { operation, type Part } from "./Operation.ts"

const MAX_DATES = 1000

class UnusableRange extends DescribedError("UnusableRange", "The range may have at most {maxDates} dates.") {}

/** One program's counts of one date: the funnel of the date, the total up to its end, and when the targets were reached. */
const DigestDay = Schema.Struct({
  date: CalendarDate,
  funnel: Schema.Struct({ date: FunnelCounts, cumulative: FunnelCounts }),
  outreach: OutreachCounts,
  learnerReachedAt: Schema.NullOr(Timestamp),
  completerReachedAt: Schema.NullOr(Timestamp),
})
const days = rowsOf(DigestDay, {
  date: "to_char(day, 'YYYY-MM-DD')",
  funnel: `jsonb_build_object(
    'date', ${funnelCounts((stage) => `case when funnel.date = day then ${stage} end`)},
    'cumulative', ${funnelCounts((stage) => `${stage}_total`)})`,
  outreach: OUTREACH_COUNTS,
})

const DigestReader = reader("DigestReader", (sql) => ({
  /** Reads each date of a program from the first to the last, by look-ups in two primary keys. Future dates have zero counts. */
  days: (organizationId: OrganizationId, programId: ProgramId, first: CalendarDate, last: CalendarDate) =>
    sql`
      select ${days.columns} from (
        select ${first}::date + n as day from generate_series(0, ${last}::date - ${first}::date) n
      ) days
      left join digest_outreach outreach
        on outreach.organization_id = ${organizationId} and outreach.program_id = ${programId} and outreach.date = day
      left join lateral (
        select * from digest_funnel
        where organization_id = ${organizationId} and program_id = ${programId} and date <= day
        order by date desc limit 1
      ) funnel on true
      order by day`.pipe(days.decode),
}))

export const digests = list("digests list", {
  about: "List a program's counts of each date of a range",
  examples: ["ops digests list --organization org_… --program pgm_… --from 2026-11-01 --to 2026-11-20"],
  filters: {
    organizationId,
    programId: required(field(ProgramId, "Program", { kind: "choice" })),
    from: required(field(CalendarDate, "First date in UTC", { kind: "date" })),
    to: required(field(CalendarDate, "Last date", { kind: "date" })),
  },
  *read({ organizationId, programId, from, to }) {
    if (to >= addDays(from, MAX_DATES)) return yield* new UnusableRange({ maxDates: MAX_DATES })
    const days = yield* (yield* DigestReader).days(organizationId, programId, from, to)
    return days.map(({ outreach, funnel, ...day }) => ({
      ...{ ...day, outreach, funnel, ...Struct.pick(outreach, ["sent", "bounced", "opened", "clicked"]) },
      recipientsPublished: outreach.recipients_published,
      accounts: funnel.date.account_created,
      learners: funnel.date.learner_qualified,
      completers: funnel.date.completer_qualified,
    }))
  },
  columns: {
    date: text("Date"),
    recipientsPublished: count("Published"),
    sent: count("Sent"),
    bounced: count("Bounced"),
    ...inOps("opened", "clicked"),
    openedByPeople: {
      ...count("Opened, without suspected bots"),
      isOfConsole: true,
      value: ({ outreach }) => outreach.without_suspected_bots.opened,
    },
    clickedByPeople: {
      ...count("Clicked, without suspected bots"),
      isOfConsole: true,
      value: ({ outreach }) => outreach.without_suspected_bots.clicked,
    },
    accounts: count("Accounts"),
    learners: count("Learners"),
    completers: count("Completers"),
  },
  omit: ["learnerReachedAt", "completerReachedAt"],
  empty: "No dates.",
  filledBy: null,
})

const STAGES: ReadonlyArray<FunnelStage> = ["account_created", "learner_qualified", "completer_qualified"]
const TOTALS = ["recipients_published", "sent", "bounced"] as const
const HITS = ["opened", "clicked"] as const
const BAR_WIDTH = 30

const funnelOf = ({ funnel, quota }: DigestRecord): Part => {
  const longest = Math.max(1, ...STAGES.map((stage) => funnel.cumulative[stage]))
  return {
    table: {
      head: ["funnel", "date", "cumulative", "target", "when_reached", "reached_at", ""],
      rows: STAGES.map((stage) => {
        const { target, reached_at } = stage === "account_created" ? { target: null, reached_at: null } : quota[stage]
        const whenReached = stage === "account_created" || target === null ? null : WHEN_REACHED[stage]
        const cumulative = funnel.cumulative[stage]
        return [
          stage,
          funnel.date[stage],
          cumulative,
          target,
          whenReached,
          reached_at,
          drawBar(cumulative / longest, BAR_WIDTH),
        ]
      }),
    },
  }
}

const outreachOf = ({ outreach }: DigestRecord): Part => ({
  table: {
    head: ["outreach", "all", "unique", "without_bots", "unique"],
    rows: [
      ...TOTALS.map((count) => [count, outreach[count], null, null, null]),
      ...HITS.map((hit) => {
        const { without_suspected_bots: unsuspected } = outreach
        return [hit, outreach[hit], outreach[`unique_${hit}`], unsuspected[hit], unsuspected[`unique_${hit}`]]
      }),
    ],
  },
})

export const showDigest = operation("digests show", {
  access: "reads",
  about: "Show each program's funnel, outreach counts and quotas of a date",
  input: { date: required(field(CalendarDate, "The date in UTC", { isArgument: true })), organizationId },
  *run({ organizationId, date }) {
    return { date, data: yield* (yield* DigestRepository).read(organizationId, date) }
  },
  show: ({ date, data }) =>
    data.length === 0
      ? ["None."]
      : data.flatMap((record, i) => {
          const { id, name, slug, status } = record.program
          const head = `${name} (${slug}, ${status})\n${id} on ${date} UTC`
          return [i === 0 ? head : `\n${head}`, funnelOf(record), outreachOf(record)]
        }),
  examples: ["ops digests show 2026-11-20 --organization org_…"],
})
