import { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { daysBetween, UnusableRange } from "@outreach/domain/digest/DateRange"
import type { Discrepancy } from "@outreach/domain/digest/DigestRepository"
import { verifyDigest as verify } from "@outreach/domain/digest/verifyDigest"
import { OrganizationId } from "@outreach/domain/Identifier"
import { Partitions } from "@outreach/postgres/Partitions"
import { Effect } from "effect"
import { formatCounted } from "../../components/format.ts"
import { ActionForm, Field } from "../../components/forms.tsx"
import { LinkLine, Table } from "../../components/lists.tsx"
import { useMayAct } from "../../components/View.ts"
import { required } from "../../http/inputs.ts"
import { defineAction } from "../../http/Route.ts"

/** The dates that one request recounts at most: it reads every event of them. The command takes more. */
const MAX_DATES = 31

/** Recounts dates of an organization, and shows which counts of the digest differ. */
export const verifyDigestAction = defineAction({
  path: "/digest/verify",
  role: "operator",
  command: "digest verify",
  fields: { organization: required(OrganizationId), date: required(CalendarDate), to: CalendarDate },
  run: Effect.fnUntraced(function* ({ organization, date, to = date }) {
    if (daysBetween(date, to) >= MAX_DATES) return yield* new UnusableRange({ maxDates: MAX_DATES })
    const { dates, discrepancies } = yield* verify(date, to, organization)
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
          <Discrepancies rows={discrepancies} />
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
      <ActionForm action={verifyDigestAction} hidden={{ organization: props.organizationId }} label="Verify">
        <Field name="date" label="First date" value={props.first} size={11} required />
        <Field name="to" label="Last date" value={props.last} size={11} hint={`${MAX_DATES} dates at most`} />
      </ActionForm>
    </>
  ) : null

const Discrepancies = (props: { readonly rows: ReadonlyArray<Discrepancy> }) => (
  <Table
    caption="Counts that differ"
    rows={props.rows}
    columns={{
      "Date (UTC)": ({ date, organizationId }) => <a href={`/digest/${date}?organization=${organizationId}`}>{date}</a>,
      Program: ({ programId }) => <code>{programId}</code>,
      Count: ({ count }) => count,
      Kept: { count: ({ kept }) => kept },
      Counted: { count: ({ counted }) => counted },
    }}
  />
)
