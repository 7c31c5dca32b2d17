import { COUNT_CAP } from "@outreach/domain/countCaps"
import { OrganizationId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { INBOX_STATES, type InboxEntry, type InboxState } from "@outreach/domain/inbox/InboxRepository"
import { INBOUND_TYPES } from "@outreach/domain/inbox/parseInboundEvent"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import {
  type InboxCounts,
  type InboxHour,
  InboxReader,
  type InboxReason,
  lastHours,
} from "@outreach/postgres/inbox/InboxReader"
import { OrganizationRepository } from "@outreach/postgres/organizations/OrganizationRepository"
import { Effect, Schema } from "effect"
import { Histogram, HOUR_MS } from "../../components/charts/Histogram.tsx"
import { flagsOf, formatCapped, formatCount, formatDuration } from "../../components/format.ts"
import { ActionForm, Choice, Field, FilterBar, OrganizationChoice } from "../../components/forms.tsx"
import { Chips, Pager, Table, withQuery } from "../../components/lists.tsx"
import { Time } from "../../components/values.tsx"
import { defineCursor, oneOf } from "../../http/inputs.ts"
import { definePage } from "../../http/Route.ts"
import { replayInbox } from "./inboxActions.ts"

const PAGE_SIZE = 50
const HOURS = 48

const inboxCursor = defineCursor({ at: Instant, organizationId: OrganizationId, eventId: Schema.NonEmptyString })

/** What partners sent: what could not be applied first. */
export const inboxPage = definePage({
  path: "/inbox",
  query: {
    organization: OrganizationId,
    state: oneOf(INBOX_STATES).annotate({ expected: "quarantined, waiting or applied" }),
    type: Schema.String,
    reason: Schema.String,
    from: Instant,
    to: Instant,
    after: inboxCursor.input,
  },
  read: Effect.fnUntraced(function* (
    { organization, state = "quarantined", reason: asked, after = null, ...filters },
    { now },
  ) {
    const reader = yield* InboxReader
    const reason = state === "quarantined" ? asked : undefined
    const window = lastHours(now, HOURS)
    const [organizations, counts, reasons, hours, { entries, next }] = yield* Effect.all(
      [
        (yield* OrganizationRepository).list,
        reader.counts(organization),
        reader.reasons(organization),
        reader.hours(window.from, window.to, organization),
        reader.list(state, { organizationId: organization, ...filters, reason }, PAGE_SIZE, after),
      ],
      { concurrency: "unbounded" },
    )
    const address = withQuery("/inbox", { organization })
    const types = new Set([...INBOUND_TYPES, ...(filters.type === undefined ? [] : [filters.type])])
    const only = flagsOf({ organization })
    return {
      title: "Inbox",
      commands: [
        `ops inbox list${only}${state === "quarantined" ? "" : ` --${state}`}${flagsOf({ ...filters, reason })}`,
        `ops inbox reasons${only}`,
        `ops inbox hours${only} --last ${HOURS}`,
      ],
      body: (
        <>
          <States counts={counts} state={state} address={address} now={now} />
          {reasons.length > 0 && <Reasons reasons={reasons} organizationId={organization} counts={counts} />}
          <Received hours={hours} address={address} />
          <h2>{TITLES[state]}</h2>
          <FilterBar action="/inbox" values={{ organization, ...filters, reason }} hidden={{ state }}>
            <OrganizationChoice organizations={organizations} all="All" />
            <Choice name="type" label="Type" all="All" options={[...types]} />
            {state === "quarantined" && <Field name="reason" label="Reason" size={30} />}
            <Field name="from" label="Received from" placeholder="2026-12-01T09:00:00Z" size={22} />
            <Field name="to" label="Received before" placeholder="2026-12-02T09:00:00Z" size={22} />
          </FilterBar>
          <Events
            entries={entries}
            state={state}
            isContinued={next !== null}
            nameOf={
              organization === undefined ? (id) => organizations.find((each) => each.id === id)?.name ?? id : undefined
            }
          />
          <Pager next={next === null ? undefined : { after: inboxCursor.of(next) }} />
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
  waiting: "No event waits. The worker applies an event within seconds.",
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
  const chipOf = (each: InboxState) => ({
    text: texts[each],
    to: withQuery(props.address, { state: each }),
    isChosen: each === props.state,
  })
  return <Chips label="States" chips={[chipOf("quarantined"), chipOf("waiting"), chipOf("applied")]} />
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
      <Table
        caption="Quarantined events by reason"
        hideCaption
        rows={props.reasons}
        columns={{
          Events: { count: ({ count }) => count, cap: COUNT_CAP },
          Reason: ({ type, reason }) => (
            <a href={withQuery("/inbox", { organization: organizationId, state: "quarantined", type, reason })}>
              {reason}
            </a>
          ),
          Type: ({ type }) => type,
          First: ({ first }) => <Time at={first} />,
          Last: ({ last }) => <Time at={last} />,
        }}
      />
      {organizationId === undefined ? (
        <p>To replay them all, choose an organization below. To replay one, open it.</p>
      ) : (
        <ActionForm
          action={replayInbox}
          hidden={{ organization: organizationId, all: true }}
          label={`Replay all ${capped(props.counts.quarantined)}`}
        >
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
  <Table
    caption={TITLES[props.state]}
    hideCaption
    rows={props.entries}
    empty={
      props.isContinued
        ? "None of the last 500 events that were received fits. The next page looks further back."
        : EMPTY[props.state]
    }
    columns={{
      Event: ({ organizationId, eventId }) => (
        <a href={`/inbox/${encodeURIComponent(eventId)}?organization=${organizationId}`}>
          <code>{eventId}</code>
        </a>
      ),
      Reason: props.state === "quarantined" && (({ reason }) => reason),
      Type: ({ type }) => type,
      Organization: props.nameOf !== undefined && (({ organizationId }) => props.nameOf?.(organizationId)),
      Received: ({ receivedAt }) => <Time at={receivedAt} />,
      Quarantined: props.state === "quarantined" && (({ quarantinedAt }) => <Time at={quarantinedAt} />),
      Applied: props.state === "applied" && (({ appliedAt }) => <Time at={appliedAt} />),
      "Repeated with other content": { number: ({ differing }) => (differing === 0 ? "–" : formatCount(differing)) },
    }}
  />
)
