import { DescribedError } from "@outreach/domain/DescribedError"
import { addDays, CalendarDate, FunnelCounts, OutreachCounts } from "@outreach/domain/digest/Digest"
import { type OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { reader } from "@outreach/postgres/adapter"
import { funnelCounts, OUTREACH_COUNTS } from "@outreach/postgres/digest/digestColumns"
import { rowsOf } from "@outreach/postgres/rowsOf"
import { Schema, Struct } from "effect"
import { field, organizationId, required } from "../operations/Field.ts"
import { count, inOps, list, text } from "./List.ts"

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
    opened: inOps,
    clicked: inOps,
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
})
