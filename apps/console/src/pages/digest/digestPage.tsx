import { type DigestDay, DigestReader } from "@outreach/backoffice/digest/DigestReader"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { ProgramReader } from "@outreach/backoffice/programs/ProgramReader"
import { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { addDays, dateAt, daysBetween, UnusableRange } from "@outreach/domain/digest/DateRange"
import { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import type { Program } from "@outreach/domain/programs/Program"
import { ProgramNotFound, ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { Effect } from "effect"
import { Funnel } from "../../components/charts/Funnel.tsx"
import { HeatMap } from "../../components/charts/HeatMap.tsx"
import { formatCount } from "../../components/format.ts"
import { FilterBar } from "../../components/forms.tsx"
import { Facts, Page, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { foreign } from "../../components/values.tsx"
import { choice, field, type InputsOf } from "../../http/inputs.ts"
import { definePage } from "../../http/Route.ts"
import { feedbackFacts } from "../campaigns/ComplaintRate.tsx"
import { VerifyForm } from "./digestDayPage.tsx"
import { Quotas } from "./Quota.tsx"

/** The counts of a day that a heat map can show, by their names in the address. */
const DIGEST_COUNTS = {
  sent: { title: "Sent", of: ({ outreach }: DigestDay) => outreach.sent },
  published: { title: "Published", of: ({ outreach }: DigestDay) => outreach.recipients_published },
  bounced: { title: "Bounced", of: ({ outreach }: DigestDay) => outreach.bounced },
  opened: {
    title: "Opened, without suspected bots",
    of: ({ outreach }: DigestDay) => outreach.without_suspected_bots.opened,
  },
  clicked: {
    title: "Clicked, without suspected bots",
    of: ({ outreach }: DigestDay) => outreach.without_suspected_bots.clicked,
  },
  accounts: { title: "Accounts created", of: ({ funnel }: DigestDay) => funnel.date.account_created },
  learners: { title: "Learners qualified", of: ({ funnel }: DigestDay) => funnel.date.learner_qualified },
  completers: { title: "Completers qualified", of: ({ funnel }: DigestDay) => funnel.date.completer_qualified },
} as const satisfies Record<string, { readonly title: string; readonly of: (day: DigestDay) => number }>

type DigestCount = keyof typeof DIGEST_COUNTS

const DEFAULT_DATES = 42
const MAX_DATES = 184

const inputs = {
  organization: field(OrganizationId, "Organization", { kind: "choice" }),
  program: field(ProgramId, "Program", { kind: "choice" }),
  from: field(CalendarDate, "From (UTC)", { kind: "date" }),
  to: field(CalendarDate, "To", { size: 11 }),
  count: choice(
    "Heat map of",
    Object.entries(DIGEST_COUNTS).map(([name, { title }]) => [name as DigestCount, title] as const),
  ),
}

export const digestPage = definePage("/digest", {
  inputs,
  run: Effect.fnUntraced(function* (given, { now }) {
    const { organizations, programs, organizationId, program } = yield* readChoices(given)
    const today = dateAt(now)
    const last = given.to === undefined || given.to > today ? today : given.to
    const first = given.from ?? addDays(last, 1 - DEFAULT_DATES)
    if (first > last || daysBetween(first, last) >= MAX_DATES) return yield* new UnusableRange({ maxDates: MAX_DATES })
    const { count = "sent" } = given
    const filters = (
      <FilterBar
        inputs={inputs}
        values={{ ...given, organization: organizationId, program: program?.id, count }}
        controls={{
          organization: { options: organizations },
          program: { options: programs.map(({ id, name, slug }) => [id, `${name} (${slug})`]) },
          from: { placeholder: first },
          to: { placeholder: last },
        }}
      />
    )
    if (organizationId === undefined || program === undefined) {
      return (
        <Page title="Digest" commands={[ops("programs list")]}>
          {filters}
          <p class="empty">
            The organization has no program. The days, the funnel and the quotas of its programs would stand here.
          </p>
        </Page>
      )
    }
    const reader = yield* DigestReader
    const [days, quotas] = yield* Effect.all(
      [reader.days(organizationId, program.id, first, last), reader.quotas(organizationId, program.id)],
      { concurrency: "unbounded" },
    )
    const ofProgram = { organization: organizationId, program: program.id }
    return (
      <Page
        title={foreign`Digest of ${program.name}`}
        commands={[
          ops("digests list", { ...ofProgram, from: first, to: last }),
          ops("digests verify", first, { organization: organizationId, to: last }),
        ]}
      >
        {filters}
        <h2>Quotas</h2>
        {quotas && <Quotas quotas={quotas} />}
        <h2>Funnel</h2>
        <Funnel
          title={`Clinicians by stage, up to the end of ${last}`}
          steps={stepsOf(days, program)}
          empty="Nobody was counted yet. Clinicians stand here from their first qualification on, which the partner reports."
        />
        <h2>E-mails of all campaigns</h2>
        <Facts facts={{ Sent: formatCount(program.sent), ...feedbackFacts(program) }} />
        <h2>Days</h2>
        {daysOf(organizationId, days, count)}
        <VerifyForm organizationId={organizationId} first={last} last={last} />
      </Page>
    )
  }),
})

/** Reads what may be chosen and what is chosen: by default the first program of the first organization. */
const readChoices = Effect.fnUntraced(function* (given: InputsOf<typeof inputs>) {
  const organizations = yield* (yield* OrganizationReader).list
  const named = given.program === undefined ? undefined : yield* (yield* ProgramRepository).find(given.program)
  const organizationId = given.organization ?? named?.organizationId ?? organizations[0]?.id
  if (organizationId === undefined) return { organizations, programs: [], organizationId, program: undefined }
  if (named !== undefined && named.organizationId !== organizationId) {
    return yield* new ProgramNotFound({ programId: named.id })
  }
  const ofOrganization = yield* (yield* ProgramReader).list({ organizationId })
  const isChosen = ({ id, status }: Program) => (named === undefined ? status === "active" : id === named.id)
  const program = ofOrganization.find(isChosen) ?? ofOrganization[0]
  return { organizations, programs: ofOrganization, organizationId, program }
})

const stepsOf = (
  days: ReadonlyArray<DigestDay>,
  targets: { readonly learnerTarget: number | null; readonly completerTarget: number | null },
) => {
  const last = days.at(-1)
  if (last === undefined) return []
  const { account_created, learner_qualified, completer_qualified } = last.funnel.cumulative
  const noteOf = (target: number | null) => (target === null ? {} : { note: `target ${formatCount(target)}` })
  return [
    { label: "accounts", count: account_created },
    { label: "learners", count: learner_qualified, ...noteOf(targets.learnerTarget) },
    { label: "completers", count: completer_qualified, ...noteOf(targets.completerTarget) },
  ]
}

const daysOf = (organizationId: OrganizationId, days: ReadonlyArray<DigestDay>, count: DigestCount) => {
  const { title, of } = DIGEST_COUNTS[count]
  const pageOf = ({ date }: DigestDay) => `/digest/${date}?organization=${organizationId}`
  return (
    <>
      <HeatMap
        title={`${title}, each day (UTC)`}
        unit={title.toLowerCase()}
        days={days.map((day) => ({ date: day.date, count: of(day), href: pageOf(day) }))}
        empty="No day is complete yet. A day stands here once something was counted on it."
      />
      <details>
        <summary>Every count of each day</summary>
        <Table
          caption="Counts of each day, newest first"
          rows={days.toReversed()}
          empty="No day is complete yet. A day stands here once something was counted on it."
          columns={{
            "Date (UTC)": (day) => <a href={pageOf(day)}>{day.date}</a>,
            ...Object.fromEntries(Object.values(DIGEST_COUNTS).map(({ title, of }) => [title, { count: of }])),
          }}
        />
      </details>
    </>
  )
}
