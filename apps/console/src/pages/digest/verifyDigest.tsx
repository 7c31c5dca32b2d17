import { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { daysBetween, UnusableRange } from "@outreach/domain/digest/DateRange"
import { verifyDigest } from "@outreach/domain/digest/verifyDigest"
import { OrganizationId } from "@outreach/domain/Identifier"
import { Partitions } from "@outreach/postgres/Partitions"
import { Effect } from "effect"
import { formatCounted } from "../../components/format.ts"
import { ActionForm } from "../../components/forms.tsx"
import { LinkLine, Table } from "../../components/lists.tsx"
import { useMayAct } from "../../components/View.ts"
import { field, required } from "../../http/inputs.ts"
import { defineAction } from "../../http/Route.ts"

/** The dates that one request recounts at most: it reads every event of them. The command takes more. */
const MAX_DATES = 31

export const verifyDigestAction = defineAction("/digest/verify", "digest verify", {
  role: "operator",
  inputs: {
    organization: required(OrganizationId),
    date: required(field(CalendarDate, "First date", { size: 11 })),
    to: field(CalendarDate, "Last date", { size: 11, hint: `${MAX_DATES} dates at most` }),
  },
  run: Effect.fnUntraced(function* ({ organization, date, to = date }) {
    if (daysBetween(date, to) >= MAX_DATES) return yield* new UnusableRange({ maxDates: MAX_DATES })
    const { dates, discrepancies } = yield* verifyDigest(date, to, organization)
    const keptFrom = (yield* (yield* Partitions).eventsKeptFrom)?.slice(0, 10)
    return {
      title: "Digest verified",
      commands: [`ops digest verify --organization ${organization} --date ${date} --to ${to}`],
      body: (
        <>
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
              No events are kept from before {keptFrom}: of the dates before, the qualifications alone were recounted.
            </p>
          )}
          <Table
            caption="Counts that differ"
            rows={discrepancies}
            columns={{
              "Date (UTC)": (row) => <a href={`/digest/${row.date}?organization=${row.organizationId}`}>{row.date}</a>,
              Program: ({ programId }) => <code>{programId}</code>,
              Count: ({ count }) => count,
              Kept: { count: ({ kept }) => kept },
              Counted: { count: ({ counted }) => counted },
            }}
          />
          <LinkLine to={`/digest?organization=${organization}`}>Back to the digest</LinkLine>
        </>
      ),
    }
  }),
})

/** The form that recounts dates, with what it does; nothing for operators who may not. */
export const VerifyForm = (props: {
  readonly organizationId: OrganizationId
  readonly first: CalendarDate
  readonly last: CalendarDate
}) =>
  useMayAct(verifyDigestAction.role) ? (
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
