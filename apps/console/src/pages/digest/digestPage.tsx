import { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { addDays, dateAt, daysBetween, UnusableRange } from "@outreach/domain/digest/DateRange"
import { FORECAST_METHOD } from "@outreach/domain/digest/describeForecast"
import { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { ProgramNotFound, ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { type DigestDay, DigestReader } from "@outreach/postgres/digest/DigestReader"
import { OrganizationRepository } from "@outreach/postgres/organizations/OrganizationRepository"
import { Effect } from "effect"
import { Funnel } from "../../components/charts/Funnel.tsx"
import { HeatMap } from "../../components/charts/HeatMap.tsx"
import { flagsOf, formatCount } from "../../components/format.ts"
import { Choice, Field, FilterBar, OrganizationChoice } from "../../components/forms.tsx"
import { Empty, Table } from "../../components/lists.tsx"
import { foreign } from "../../components/values.tsx"
import { oneOf } from "../../http/inputs.ts"
import { definePage } from "../../http/Route.ts"
import { Quota } from "./Quota.tsx"
import { VerifyForm } from "./verifyDigestAction.tsx"

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

/** Reads what may be chosen and what is chosen: by default the first program of the first organization. */
const readChoices = Effect.fnUntraced(function* (asked: {
  readonly organization: OrganizationId | undefined
  readonly program: ProgramId | undefined
}) {
  const programs = yield* ProgramRepository
  const organizations = yield* (yield* OrganizationRepository).list
  const named = asked.program === undefined ? undefined : yield* programs.find(asked.program)
  const organizationId = asked.organization ?? named?.organizationId ?? organizations[0]?.id
  if (organizationId === undefined) return { organizations, programs: [], organizationId, program: undefined }
  if (named !== undefined && named.organizationId !== organizationId) {
    return yield* new ProgramNotFound({ programId: named.id })
  }
  const ofOrganization = yield* programs.list(organizationId)
  const program = named ?? ofOrganization.find(({ status }) => status === "active") ?? ofOrganization[0]
  return { organizations, programs: ofOrganization, organizationId, program }
})

const DEFAULT_DATES = 42
const MAX_DATES = 184

/** A program's days, its funnel and its quotas. */
export const digestPage = definePage({
  path: "/digest",
  query: {
    organization: OrganizationId,
    program: ProgramId,
    from: CalendarDate,
    to: CalendarDate,
    count: oneOf(Object.keys(DIGEST_COUNTS) as ReadonlyArray<DigestCount>),
    by: CalendarDate,
  },
  read: Effect.fnUntraced(function* (query, { now }) {
    const { count = "sent" } = query
    const { organizations, programs, organizationId, program } = yield* readChoices(query)
    const today = dateAt(now)
    const last = query.to === undefined || query.to > today ? today : query.to
    const first = query.from ?? addDays(last, 1 - DEFAULT_DATES)
    if (first > last || daysBetween(first, last) >= MAX_DATES) return yield* new UnusableRange({ maxDates: MAX_DATES })
    const filter = (
      <FilterBar action="/digest" values={{ ...query, organization: organizationId, program: program?.id, count }}>
        <OrganizationChoice organizations={organizations} />
        <Choice
          name="program"
          label="Program"
          options={programs.map(({ id, name, slug }) => [id, `${name} (${slug})`])}
        />
        <Field name="from" label="From (UTC)" placeholder={first} size={11} />
        <Field name="to" label="To" placeholder={last} size={11} />
        <Choice
          name="count"
          label="Heat map of"
          options={Object.entries(DIGEST_COUNTS).map(([name, { title }]) => [name, title])}
        />
        <Field name="by" label="Targets wanted by" placeholder="2026-12-31" size={11} />
      </FilterBar>
    )
    if (organizationId === undefined || program === undefined) {
      return {
        title: "Digest",
        commands: ["ops programs list"],
        body: (
          <>
            {filter}
            <Empty>
              The organization has no program. The days, the funnel and the quotas of its programs would stand here.
            </Empty>
          </>
        ),
      }
    }
    const reader = yield* DigestReader
    const [days, progress] = yield* Effect.all(
      [reader.days(organizationId, program.id, first, last), reader.progress(organizationId, program.id)],
      { concurrency: "unbounded" },
    )
    const by = query.by ?? progress?.campaignsEnd ?? null
    const { title, of } = DIGEST_COUNTS[count]
    const ofProgram = `--organization ${organizationId} --program ${program.id}`
    return {
      title: foreign`Digest of ${program.name}`,
      commands: [
        `ops digest forecast ${ofProgram}${flagsOf({ by: query.by })}`,
        `ops digest days ${ofProgram} --from ${first} --to ${last}`,
        `ops digest verify --organization ${organizationId} --date ${first} --to ${last}`,
      ],
      body: (
        <>
          {filter}
          <h2>Quotas</h2>
          {progress && (
            <>
              <div class="halves">
                <Quota stage="learner_qualified" progress={progress.learner_qualified} days={days} by={by} />
                <Quota stage="completer_qualified" progress={progress.completer_qualified} days={days} by={by} />
              </div>
              <p>
                <small>{FORECAST_METHOD}</small>
              </p>
            </>
          )}
          <h2>Funnel</h2>
          <Funnel
            title={`Clinicians by stage, up to the end of ${last}`}
            steps={stepsOf(days, program)}
            empty="Nobody was counted."
          />
          <h2>Days</h2>
          <HeatMap
            title={`${title}, each day (UTC)`}
            unit={title.toLowerCase()}
            days={days.map((day) => ({ date: day.date, count: of(day), href: pageOf(day, organizationId) }))}
            empty="No day."
          />
          <Days days={days} organizationId={organizationId} />
          <VerifyForm organizationId={organizationId} first={last} last={last} />
        </>
      ),
    }
  }),
})

const pageOf = ({ date }: DigestDay, organizationId: OrganizationId): string =>
  `/digest/${date}?organization=${organizationId}`

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

const Days = (props: { readonly days: ReadonlyArray<DigestDay>; readonly organizationId: OrganizationId }) => (
  <details>
    <summary>Every count of each day</summary>
    <Table
      caption="Counts of each day, newest first"
      rows={props.days.toReversed()}
      empty="No day."
      columns={{
        "Date (UTC)": (day) => <a href={pageOf(day, props.organizationId)}>{day.date}</a>,
        ...Object.fromEntries(Object.values(DIGEST_COUNTS).map(({ title, of }) => [title, { count: of }])),
      }}
    />
  </details>
)
