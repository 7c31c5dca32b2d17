import { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { addDays, dateAt } from "@outreach/domain/digest/DateRange"
import type { DigestRecord, FunnelStage } from "@outreach/domain/digest/Digest"
import { DigestRepository } from "@outreach/domain/digest/DigestRepository"
import { OrganizationId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { Empty } from "../../components/Empty.tsx"
import { ForeignText } from "../../components/ForeignText.tsx"
import { formatCount } from "../../components/format.ts"
import { type Column, Table } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"
import { required } from "../../http/inputs.ts"
import { definePage } from "../../http/Route.ts"
import { VerifyForm } from "./verifyDigestAction.tsx"

/** Every number of one day's digest, as the API serves it to the organization. */
export const digestDayPage = definePage({
  path: "/digest/:date",
  section: "digest",
  role: "viewer",
  params: { date: CalendarDate },
  query: { organization: required(OrganizationId) },
  read: Effect.fnUntraced(function* ({ date, organization }, { now }) {
    const records = yield* (yield* DigestRepository).read(organization, date)
    const pageOf = (day: CalendarDate) => `/digest/${day}?organization=${organization}`
    return {
      title: `Digest of ${date}`,
      commands: [
        `ops digest show --organization ${organization} --date ${date}`,
        `ops digest verify --organization ${organization} --date ${date}`,
      ],
      body: (
        <>
          <nav class="pager" aria-label="Days">
            <a href={pageOf(addDays(date, -1))} rel="prev">
              The day before
            </a>{" "}
            {date < dateAt(now) && (
              <>
                <a href={pageOf(addDays(date, 1))} rel="next">
                  The day after
                </a>{" "}
              </>
            )}
            <a href={`/digest?organization=${organization}`}>All days</a>
          </nav>
          <p>
            As <code>GET /v1/partners/consumer/digest?date={date}</code> serves it to the organization. The day is in
            UTC.
          </p>
          {records.length === 0 && <Empty>The organization has no program.</Empty>}
          {records.map((record) => (
            <Record key={record.program.id} record={record} />
          ))}
          <VerifyForm organizationId={organization} first={date} last={date} />
        </>
      ),
    }
  }),
})

const Record = ({ record }: { readonly record: DigestRecord }) => {
  const { program } = record
  return (
    <section aria-labelledby={program.id}>
      <h2 id={program.id}>
        <a href={`/digest?organization=${program.organizationId}&program=${program.id}`}>
          <ForeignText>{program.name}</ForeignText>
        </a>{" "}
        <small>
          {program.slug}, {program.status}
        </small>
      </h2>
      <Table<StageRow> caption="Clinicians by stage" rows={stagesOf(record)} empty="" columns={STAGE_COLUMNS} />
      <Table<CountRow> caption="Outreach of the day" rows={outreachOf(record)} empty="" columns={COUNT_COLUMNS} />
    </section>
  )
}

const STAGES: ReadonlyArray<FunnelStage> = ["account_created", "learner_qualified", "completer_qualified"]

interface StageRow {
  readonly stage: FunnelStage
  readonly ofDate: number
  readonly cumulative: number
  readonly quota: DigestRecord["quota"]["learner_qualified"] | undefined
}

const stagesOf = ({ funnel, quota }: DigestRecord): ReadonlyArray<StageRow> =>
  STAGES.map((stage) => ({
    stage,
    ofDate: funnel.date[stage],
    cumulative: funnel.cumulative[stage],
    quota: stage === "account_created" ? undefined : quota[stage],
  }))

const countOrDash = (count: number | null | undefined): string =>
  count === null || count === undefined ? "–" : formatCount(count)

const STAGE_COLUMNS: ReadonlyArray<Column<StageRow>> = [
  { header: "Stage", cell: ({ stage }) => stage },
  { header: "Of the day", numeric: true, cell: ({ ofDate }) => formatCount(ofDate) },
  { header: "Up to its end", numeric: true, cell: ({ cumulative }) => formatCount(cumulative) },
  { header: "Target", numeric: true, cell: ({ quota }) => countOrDash(quota?.target) },
  { header: "Remaining", numeric: true, cell: ({ quota }) => countOrDash(quota?.remaining) },
  { header: "Reached at", cell: ({ quota }) => <Time at={quota?.reached_at as Timestamp | null | undefined} /> },
]

interface CountRow {
  readonly name: string
  readonly all: number
  readonly unique?: number
  readonly unsuspected?: number
  readonly unsuspectedUnique?: number
}

const outreachOf = ({ outreach }: DigestRecord): ReadonlyArray<CountRow> => {
  const { without_suspected_bots: unsuspected } = outreach
  return [
    ...(["recipients_published", "sent", "bounced"] as const).map((name) => ({ name, all: outreach[name] })),
    ...(["opened", "clicked"] as const).map((name) => ({
      name,
      all: outreach[name],
      unique: outreach[`unique_${name}`],
      unsuspected: unsuspected[name],
      unsuspectedUnique: unsuspected[`unique_${name}`],
    })),
  ]
}

const COUNT_COLUMNS: ReadonlyArray<Column<CountRow>> = [
  { header: "Count", cell: ({ name }) => name },
  { header: "All", numeric: true, cell: ({ all }) => formatCount(all) },
  { header: "Unique", numeric: true, cell: ({ unique }) => countOrDash(unique) },
  { header: "Without suspected bots", numeric: true, cell: ({ unsuspected }) => countOrDash(unsuspected) },
  { header: "Unique of these", numeric: true, cell: ({ unsuspectedUnique }) => countOrDash(unsuspectedUnique) },
]
