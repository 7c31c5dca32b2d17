import { DescribedError } from "@outreach/domain/DescribedError"
import { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { addDays } from "@outreach/domain/digest/DateRange"
import { ProgramId } from "@outreach/domain/Identifier"
import { Struct } from "effect"
import { DigestReader } from "../digest/DigestReader.ts"
import { field, organizationId, required } from "../operations/Field.ts"
import { count, inOps, list, text } from "./List.ts"

const MAX_DATES = 1000

class UnusableRange extends DescribedError("UnusableRange", "The range may have at most {maxDates} dates.") {}

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
  empty: "No dates.",
})
