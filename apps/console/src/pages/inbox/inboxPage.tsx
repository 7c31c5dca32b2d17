import { COUNT_CAP } from "@outreach/domain/countCaps"
import { OrganizationId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { INBOX_STATES, type InboxEntry, type InboxState } from "@outreach/domain/inbox/InboxRepository"
import { INBOUND_TYPES } from "@outreach/domain/inbox/parseInboundEvent"
import { parseInput } from "@outreach/domain/parseInput"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import {
  type InboxCounts,
  type InboxHour,
  type InboxPlace,
  InboxReader,
  type InboxReason,
  lastHours,
} from "@outreach/postgres/inbox/InboxReader"
import { OrganizationRepository } from "@outreach/postgres/organizations/OrganizationRepository"
import { Effect, Result, Schema } from "effect"
import { ActionForm } from "../../components/ActionForm.tsx"
import { Histogram } from "../../components/charts/Histogram.tsx"
import { Choice, Field, FilterBar } from "../../components/Field.tsx"
import { formatCapped, formatDuration } from "../../components/format.ts"
import { OrganizationChoice } from "../../components/OrganizationChoice.tsx"
import { Pager, withQuery } from "../../components/Pager.tsx"
import { Table } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"
import { definePage } from "../../http/Route.ts"
import { replayInbox } from "./inboxActions.ts"

const PAGE_SIZE = 50
/** How many hours the histogram shows. */
const HOURS = 48
const HOUR_MS = 3_600_000

const parseInstant = parseInput(Instant)

/** A place in a list as text: its time, organization and event. */
const Place = Schema.String.check(
  Schema.makeFilter((text) => {
    const [at = "", organization = "", event] = text.split("~")
    return Result.isSuccess(parseInstant(at)) && Schema.is(OrganizationId)(organization) && event !== undefined
  }),
).pipe(Schema.annotate({ expected: "the place that a link to the next page names" }))

const State = Schema.Literals(INBOX_STATES).pipe(Schema.annotate({ expected: "quarantined, waiting or applied" }))

/** What partners sent: what could not be applied first. */
export const inboxPage = definePage({
  path: "/inbox",
  section: "inbox",
  role: "viewer",
  params: {},
  query: {
    organization: OrganizationId,
    state: State,
    type: Schema.String,
    reason: Schema.String,
    from: Instant,
    to: Instant,
    after: Place,
  },
  read: Effect.fnUntraced(function* (
    { organization, state = "quarantined", type, reason, from, to, after },
    { operator, now },
  ) {
    const reader = yield* InboxReader
    const organizationId = operator.organizationId ?? organization
    const filter = { organizationId, type, reason: state === "quarantined" ? reason : undefined, from, to }
    const window = lastHours(now, HOURS)
    const [organizations, counts, reasons, hours, list] = yield* Effect.all(
      [
        (yield* OrganizationRepository).list,
        reader.counts(organizationId),
        reader.reasons(organizationId),
        reader.hours(window.from, window.to, organizationId),
        reader.list(state, filter, PAGE_SIZE, after === undefined ? null : toPlace(after)),
      ],
      { concurrency: "unbounded" },
    )
    const only = organizationId === undefined ? "" : `?organization=${organizationId}`
    return {
      title: "Inbox",
      commands: commandsOf(organizationId, state, { type, reason: filter.reason, from, to }),
      body: (
        <>
          <States counts={counts} state={state} address={`/inbox${only}`} now={now} />
          {reasons.length > 0 && <Reasons reasons={reasons} organizationId={organizationId} counts={counts} />}
          <Received hours={hours} address={`/inbox${only}`} />
          <h2>{TITLES[state]}</h2>
          <FilterBar action="/inbox">
            <input type="hidden" name="state" value={state} />
            <OrganizationChoice organizations={organizations} value={organization} all="All" />
            <Choice
              name="type"
              label="Type"
              value={type}
              options={[
                ["", "All"],
                ...[...new Set([...INBOUND_TYPES, ...(type === undefined ? [] : [type])])].map(
                  (each) => [each, each] as const,
                ),
              ]}
            />
            {state === "quarantined" && <Field name="reason" label="Reason" value={reason} size={30} />}
            <Field name="from" label="Received from" value={from} placeholder="2026-12-01T09:00:00Z" size={22} />
            <Field name="to" label="Received before" value={to} placeholder="2026-12-02T09:00:00Z" size={22} />
          </FilterBar>
          <Events
            entries={list.entries}
            state={state}
            isContinued={list.next !== null}
            nameOf={
              organizationId === undefined
                ? (id) => organizations.find((each) => each.id === id)?.name ?? id
                : undefined
            }
          />
          <Pager
            address={addressOf({ organization, state, type, reason, from, to })}
            next={list.next ? fromPlace(list.next) : undefined}
          />
        </>
      ),
    }
  }),
})

const TITLES: Readonly<Record<InboxState, string>> = {
  quarantined: "Quarantined events",
  waiting: "Events that wait to be applied",
  applied: "Applied events",
}

const EMPTY: Readonly<Record<InboxState, string>> = {
  quarantined: "No event is quarantined. An event that cannot be applied would stand here, with the reason.",
  waiting: "No event waits. The worker applies what comes within seconds.",
  applied: "No event was applied.",
}

const States = (props: {
  readonly counts: InboxCounts
  readonly state: InboxState
  readonly address: string
  readonly now: number
}) => {
  const { quarantined, waiting, waitingSince } = props.counts
  const since =
    waitingSince === null ? "" : `, the first for ${formatDuration((props.now - toUnixMillis(waitingSince)) / 1000)}`
  const texts: Readonly<Record<InboxState, string>> = {
    quarantined: `Quarantined: ${capped(quarantined)}`,
    waiting: `Waiting: ${capped(waiting)}${since}`,
    applied: "Applied",
  }
  return (
    <nav aria-label="States">
      <ul class="chips">
        {(["quarantined", "waiting", "applied"] as const).map((each) => (
          <li key={each}>
            <a
              href={withQuery(props.address, { state: each })}
              aria-current={each === props.state ? "page" : undefined}
            >
              {texts[each]}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

const capped = (count: number): string => formatCapped(count, COUNT_CAP)

const Reasons = (props: {
  readonly reasons: ReadonlyArray<InboxReason>
  readonly counts: InboxCounts
  readonly organizationId: OrganizationId | undefined
}) => {
  const { organizationId } = props
  return (
    <>
      <h2>Why events are quarantined</h2>
      <Table<InboxReason>
        caption="Quarantined events by reason"
        hideCaption
        rows={props.reasons}
        empty=""
        columns={[
          { header: "Events", numeric: true, cell: ({ count }) => capped(count) },
          {
            header: "Reason",
            cell: ({ type, reason }) => (
              <a href={withQuery("/inbox", { organization: organizationId, state: "quarantined", type, reason })}>
                {reason}
              </a>
            ),
          },
          { header: "Type", cell: ({ type }) => type },
          { header: "First", cell: ({ first }) => <Time at={first} /> },
          { header: "Last", cell: ({ last }) => <Time at={last} /> },
        ]}
      />
      {organizationId === undefined ? (
        <p>To replay them all, choose an organization below. To replay one, open it.</p>
      ) : (
        <ActionForm action={replayInbox} label={`Replay all ${capped(props.counts.quarantined)}`}>
          <input type="hidden" name="organization" value={organizationId} />
          <input type="hidden" name="all" value="true" />
          <p>
            They wait again, and are applied in the order of their receipt. What still cannot be applied comes back.
          </p>
        </ActionForm>
      )}
    </>
  )
}

const Received = (props: { readonly hours: ReadonlyArray<InboxHour>; readonly address: string }) => {
  const [first] = props.hours
  if (first === undefined) return null
  const from = toUnixMillis(first.at)
  return (
    <Histogram
      title={`Received in the last ${HOURS} hours`}
      series={[
        { name: "acknowledged", color: "var(--accent)" },
        { name: "bad signature", color: "var(--bad)" },
        { name: "refused", color: "var(--warning)" },
      ]}
      buckets={props.hours.map(({ at, received, badSignatures, refused }) => ({
        at: toUnixMillis(at),
        counts: { acknowledged: received, "bad signature": badSignatures, refused },
      }))}
      bucketMs={HOUR_MS}
      from={from}
      to={from + HOURS * HOUR_MS}
      brush={withQuery(props.address, { state: "applied" })}
      empty="Nothing was received."
    />
  )
}

const Events = (props: {
  readonly entries: ReadonlyArray<InboxEntry>
  readonly state: InboxState
  readonly isContinued: boolean
  /** The name of an organization, if the events are of several. */
  readonly nameOf: ((organizationId: OrganizationId) => string) | undefined
}) => (
  <Table<InboxEntry>
    caption={TITLES[props.state]}
    hideCaption
    rows={props.entries}
    empty={
      props.isContinued
        ? "None of the last 500 events that were received fits. The next page looks further back."
        : EMPTY[props.state]
    }
    columns={[
      {
        header: "Event",
        cell: ({ organizationId, eventId }) => (
          <a href={`/inbox/${encodeURIComponent(eventId)}?organization=${organizationId}`}>
            <code>{eventId}</code>
          </a>
        ),
      },
      ...(props.state === "quarantined" ? [{ header: "Reason", cell: ({ reason }: InboxEntry) => reason }] : []),
      { header: "Type", cell: ({ type }) => type },
      ...(props.nameOf === undefined
        ? []
        : [{ header: "Organization", cell: ({ organizationId }: InboxEntry) => props.nameOf?.(organizationId) }]),
      { header: "Received", cell: ({ receivedAt }) => <Time at={receivedAt} /> },
      ...(props.state === "quarantined"
        ? [{ header: "Quarantined", cell: ({ quarantinedAt }: InboxEntry) => <Time at={quarantinedAt} /> }]
        : []),
      ...(props.state === "applied"
        ? [{ header: "Applied", cell: ({ appliedAt }: InboxEntry) => <Time at={appliedAt} /> }]
        : []),
      {
        header: "Came again, differing",
        numeric: true,
        cell: ({ differing }) => (differing === 0 ? "–" : differing.toLocaleString("en")),
      },
    ]}
  />
)

const toPlace = (text: string): InboxPlace => {
  const [at = "", organizationId = "", ...eventId] = text.split("~")
  return { at: at as InboxPlace["at"], organizationId, eventId: eventId.join("~") }
}

const fromPlace = ({ at, organizationId, eventId }: InboxPlace) => ({ after: `${at}~${organizationId}~${eventId}` })

const addressOf = (query: Readonly<Record<string, string | undefined>>): string => withQuery("/inbox", query)

const commandsOf = (
  organizationId: OrganizationId | undefined,
  state: InboxState,
  filter: Readonly<Record<string, string | undefined>>,
): ReadonlyArray<string> => {
  const only = organizationId === undefined ? "" : ` --organization ${organizationId}`
  const flags = Object.entries(filter).flatMap(([name, value]) =>
    value === undefined ? [] : [` --${name} "${value}"`],
  )
  return [
    `ops inbox list${only}${state === "quarantined" ? "" : ` --${state}`}${flags.join("")}`,
    `ops inbox reasons${only}`,
    `ops inbox hours${only} --last ${HOURS}`,
  ]
}
