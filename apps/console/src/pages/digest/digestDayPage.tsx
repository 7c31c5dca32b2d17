import { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { addDays, dateAt, daysBetween, UnusableRange } from "@outreach/domain/digest/DateRange"
import type { DigestRecord, FunnelStage } from "@outreach/domain/digest/Digest"
import { DigestRepository } from "@outreach/domain/digest/DigestRepository"
import { verifyDigest } from "@outreach/domain/digest/verifyDigest"
import { OrganizationId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Partitions } from "@outreach/postgres/Partitions"
import { Effect } from "effect"
import { formatCounted } from "../../components/format.ts"
import { ActionForm } from "../../components/forms.tsx"
import { LinkLine, Page, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { ForeignText, IdLink, Time, useMay } from "../../components/values.tsx"
import { field, required } from "../../http/inputs.ts"
import { defineAction, definePage } from "../../http/Route.ts"

const digestDayPage = definePage("/digest/:date", {
  inputs: { organization: required(OrganizationId) },
  run: Effect.fnUntraced(function* ({ date, organization }, { now }) {
    const records = yield* (yield* DigestRepository).read(organization, date)
    const pageOf = (day: CalendarDate) => `/digest/${day}?organization=${organization}`
    return (
      <Page
        title={`Digest of ${date}`}
        commands={[ops("digests show", date, { organization }), ops("digests verify", date, { organization })]}
      >
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
          As <code>GET /v1/partners/consumer/digest?date={date}</code> serves it to the organization. The day is in UTC.
        </p>
        {records.length === 0 && <p class="empty">The organization has no program.</p>}
        {records.map((record) => (
          <Record key={record.program.id} record={record} />
        ))}
        <VerifyForm organizationId={organization} first={date} last={date} />
      </Page>
    )
  }),
})

const Record = ({ record }: { readonly record: DigestRecord }) => {
  const { program, funnel, quota, outreach } = record
  const { without_suspected_bots: unsuspected } = outreach
  const quotaOf = (stage: FunnelStage) => (stage === "account_created" ? undefined : quota[stage])
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
      <Table
        caption="Clinicians by stage"
        rows={STAGES}
        columns={{
          Stage: (stage) => stage,
          "Of the day": { count: (stage) => funnel.date[stage] },
          "Up to its end": { count: (stage) => funnel.cumulative[stage] },
          Target: { count: (stage) => quotaOf(stage)?.target },
          Remaining: { count: (stage) => quotaOf(stage)?.remaining },
          "Reached at": (stage) => <Time at={quotaOf(stage)?.reached_at as Timestamp | null | undefined} />,
        }}
      />
      <Table
        caption="Outreach of the day"
        rows={OUTREACH}
        columns={{
          Count: (name) => name,
          All: { count: (name) => outreach[name] },
          Unique: { count: (name) => (isHit(name) ? outreach[`unique_${name}`] : null) },
          "Without suspected bots": { count: (name) => (isHit(name) ? unsuspected[name] : null) },
          "Unique of these": { count: (name) => (isHit(name) ? unsuspected[`unique_${name}`] : null) },
        }}
      />
    </section>
  )
}

const STAGES: ReadonlyArray<FunnelStage> = ["account_created", "learner_qualified", "completer_qualified"]
const OUTREACH = ["recipients_published", "sent", "bounced", "opened", "clicked"] as const

const isHit = (name: (typeof OUTREACH)[number]): name is "opened" | "clicked" => name === "opened" || name === "clicked"

/** Maximum dates of a recount by one request, which reads all their events. The command has no limit. */
const MAX_DATES = 31

const verifyDigestAction = defineAction("/digest/verify", "digests verify", {
  role: "operator",
  isRepeatable: true,
  inputs: {
    organization: required(OrganizationId),
    date: required(field(CalendarDate, "First date", { size: 11 })),
    to: field(CalendarDate, "Last date", { size: 11, hint: `${MAX_DATES} dates at most` }),
  },
  run: Effect.fnUntraced(function* ({ organization, date, to = date }) {
    if (daysBetween(date, to) >= MAX_DATES) return yield* new UnusableRange({ maxDates: MAX_DATES })
    const { dates, discrepancies } = yield* verifyDigest(date, to, organization)
    const keptFrom = (yield* (yield* Partitions).eventsKeptFrom)?.slice(0, 10)
    return (
      <Page title="Digest verified" commands={[ops("digests verify", date, { organization, to })]}>
        {discrepancies.length === 0 ? (
          <p class="notice">The digest is right for {formatCounted(dates, "date")}: its counts equal the recount.</p>
        ) : (
          <p class="problem">
            {formatCounted(discrepancies.length, "count differs", "counts differ")} from the recount of the events and
            the qualifications. Partners read what is kept.
          </p>
        )}
        {keptFrom !== undefined && date < keptFrom && (
          <p>
            No events are kept from before {keptFrom} (UTC): of the dates before, the qualifications alone were
            recounted.
          </p>
        )}
        <Table
          caption="Counts that differ"
          rows={discrepancies}
          columns={{
            "Date (UTC)": (row) => <a href={`/digest/${row.date}?organization=${row.organizationId}`}>{row.date}</a>,
            Program: ({ programId }) => <IdLink id={programId} />,
            Count: ({ count }) => count,
            Kept: { count: ({ kept }) => kept },
            Counted: { count: ({ counted }) => counted },
          }}
        />
        <LinkLine to={`/digest?organization=${organization}`}>Back to the digest</LinkLine>
      </Page>
    )
  }),
})

export const VerifyForm = (props: {
  readonly organizationId: OrganizationId
  readonly first: CalendarDate
  readonly last: CalendarDate
}) =>
  useMay(verifyDigestAction) ? (
    <>
      <h2>Verify</h2>
      <p>
        Recounts the dates of every program of the organization from its events and qualifications, and compares. It
        reads every event of the dates, which takes a while for many.
      </p>
      <ActionForm
        action={verifyDigestAction}
        hidden={{ organization: props.organizationId }}
        label="Verify"
        controls={{ date: { value: props.first }, to: { value: props.last } }}
      />
    </>
  ) : null

export const digestDayRoutes = [digestDayPage, verifyDigestAction] as const
