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
import { formatCount } from "../../components/format.ts"
import { FilterBar } from "../../components/forms.tsx"
import { Facts, Page, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { foreign } from "../../components/values.tsx"
import { field, type InputsOf } from "../../http/inputs.ts"
import { definePage } from "../../http/Route.ts"
import { feedbackFacts } from "../campaigns/ComplaintRate.tsx"
import { VerifyForm } from "./digestDayPage.tsx"
import { Quotas } from "./Quota.tsx"

const DIGEST_COUNTS: Readonly<Record<string, (day: DigestDay) => number>> = {
  Sent: ({ outreach }) => outreach.sent,
  Published: ({ outreach }) => outreach.recipients_published,
  Bounced: ({ outreach }) => outreach.bounced,
  "Opened, without suspected bots": ({ outreach }) => outreach.without_suspected_bots.opened,
  "Clicked, without suspected bots": ({ outreach }) => outreach.without_suspected_bots.clicked,
  "Accounts created": ({ funnel }) => funnel.date.account_created,
  "Learners qualified": ({ funnel }) => funnel.date.learner_qualified,
  "Completers qualified": ({ funnel }) => funnel.date.completer_qualified,
}

const DEFAULT_DATES = 42
const MAX_DATES = 184

const inputs = {
  organization: field(OrganizationId, "Organization", { kind: "choice" }),
  program: field(ProgramId, "Program", { kind: "choice" }),
  from: field(CalendarDate, "From (UTC)", { kind: "date" }),
  to: field(CalendarDate, "To", { size: 11 }),
}

export const digestPage = definePage("/digest", {
  inputs,
  run: Effect.fnUntraced(function* (given, { now }) {
    const { organizations, programs, organizationId, program } = yield* readChoices(given)
    const today = dateAt(now)
    const last = given.to === undefined || given.to > today ? today : given.to
    const first = given.from ?? addDays(last, 1 - DEFAULT_DATES)
    if (first > last || daysBetween(first, last) >= MAX_DATES) return yield* new UnusableRange({ maxDates: MAX_DATES })
    const filters = (
      <FilterBar
        inputs={inputs}
        values={{ ...given, organization: organizationId, program: program?.id }}
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
        <Table
          caption="Counts of each day, newest first"
          rows={days.toReversed()}
          columns={{
            "Date (UTC)": ({ date }) => <a href={`/digest/${date}?organization=${organizationId}`}>{date}</a>,
            ...Object.fromEntries(Object.entries(DIGEST_COUNTS).map(([title, count]) => [title, { count }])),
          }}
        />
        <VerifyForm organizationId={organizationId} first={last} last={last} />
      </Page>
    )
  }),
})

/** Reads the possible and the chosen programs: by default the first program of the first organization. */
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
