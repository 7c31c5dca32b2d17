import type { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { addDays, dateAt } from "@outreach/domain/digest/DateRange"
import type { DigestRecord, FunnelStage } from "@outreach/domain/digest/Digest"
import { DigestRepository } from "@outreach/domain/digest/DigestRepository"
import { OrganizationId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { Empty, Table } from "../../components/lists.tsx"
import { ForeignText, Time } from "../../components/values.tsx"
import { required } from "../../http/inputs.ts"
import { definePage } from "../../http/Route.ts"
import { VerifyForm } from "./verifyDigest.tsx"

export const digestDayPage = definePage("/digest/:date", {
  inputs: { organization: required(OrganizationId) },
  run: Effect.fnUntraced(function* ({ date, organization }, { now }) {
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
