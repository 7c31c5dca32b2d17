import { InboxReader, lastHours } from "@outreach/backoffice/inbox/InboxReader"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import { OrganizationId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { INBOX_STATES, type InboxState } from "@outreach/domain/inbox/InboxRepository"
import { INBOUND_TYPES } from "@outreach/domain/inbox/parseInboundEvent"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect, Schema } from "effect"
import { Histogram, HOUR_MS } from "../../components/charts/Histogram.tsx"
import { flagsOf, formatCapped, formatCount, formatDuration } from "../../components/format.ts"
import { ActionForm, Choice, Field, FilterBar, OrganizationChoice } from "../../components/forms.tsx"
import { Chips, Pager, Table, withQuery } from "../../components/lists.tsx"
import { Time } from "../../components/values.tsx"
import { defineCursor, type InputsOf, oneOf } from "../../http/inputs.ts"
import { definePage } from "../../http/Route.ts"
import { replayInbox } from "./inboxActions.ts"

const PAGE_SIZE = 50
const HOURS = 48

const inboxCursor = defineCursor({ at: Instant, organizationId: OrganizationId, eventId: Schema.NonEmptyString })

const query = {
  organization: OrganizationId,
  state: oneOf(INBOX_STATES).annotate({ expected: "quarantined, waiting or applied" }),
  type: Schema.String,
  reason: Schema.String,
  from: Instant,
  to: Instant,
  after: inboxCursor.input,
}

/** What partners sent: what could not be applied first. */
export const inboxPage = definePage({
  path: "/inbox",
  query,
  read: (input, { now }) => Effect.map(readInbox(input, now), contentOf),
})

const readInbox = Effect.fnUntraced(function* (
  { state = "quarantined", reason, after, ...others }: InputsOf<typeof query>,
  now: number,
) {
  const reader = yield* InboxReader
  const { organization } = others
  const filters = { ...others, reason: state === "quarantined" ? reason : undefined }
  const window = lastHours(now, HOURS)
  const found = yield* Effect.all(
    {
      organizations: (yield* OrganizationReader).list,
      counts: reader.counts(organization),
      reasons: reader.reasons(organization),
      hours: reader.hours(window.from, window.to, organization),
      list: reader.list(state, { organizationId: organization, ...filters }, PAGE_SIZE, after ?? null),
    },
    { concurrency: "unbounded" },
  )
  return { ...found, state, filters, now, address: withQuery("/inbox", { organization }) }
})

type Inbox = Effect.Success<ReturnType<typeof readInbox>>

const contentOf = (inbox: Inbox) => {
  const { organizations, reasons, list, state, filters } = inbox
  const { organization, ...others } = filters
  const types = new Set([...INBOUND_TYPES, ...(filters.type === undefined ? [] : [filters.type])])
  const only = flagsOf({ organization })
  return {
    title: "Inbox",
    commands: [
      `ops inbox list${only}${state === "quarantined" ? "" : ` --${state}`}${flagsOf(others)}`,
      `ops inbox reasons${only}`,
      `ops inbox hours${only} --last ${HOURS}`,
    ],
    body: (
      <>
        <States {...inbox} />
        {reasons.length > 0 && <Reasons {...inbox} />}
        <Received {...inbox} />
        <h2>{TITLES[state]}</h2>
        <FilterBar action="/inbox" values={filters} hidden={{ state }}>
          <OrganizationChoice organizations={organizations} all="All" />
          <Choice name="type" label="Type" all="All" options={[...types]} />
          {state === "quarantined" && <Field name="reason" label="Reason" size={30} />}
          <Field name="from" label="Received from" placeholder="2026-12-01T09:00:00Z" size={22} />
          <Field name="to" label="Received before" placeholder="2026-12-02T09:00:00Z" size={22} />
        </FilterBar>
        <Events {...inbox} />
        <Pager next={list.next === null ? undefined : { after: inboxCursor.of(list.next) }} />
      </>
    ),
  }
}

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

const States = ({ counts: { quarantined, waiting, waitingSince }, state, address, now }: Inbox) => {
  const since =
    waitingSince === null ? "" : `, the first for ${formatDuration((now - toUnixMillis(waitingSince)) / 1000)}`
  const texts: Readonly<Record<InboxState, string>> = {
    quarantined: `Quarantined: ${capped(quarantined)}`,
    waiting: `Waiting: ${capped(waiting)}${since}`,
    applied: "Applied",
  }
  const chipOf = (each: InboxState) => ({
    text: texts[each],
    to: withQuery(address, { state: each }),
    isChosen: each === state,
  })
  return <Chips label="States" chips={[chipOf("quarantined"), chipOf("waiting"), chipOf("applied")]} />
}

const capped = (count: number): string => formatCapped(count, COUNT_CAP)

const Reasons = ({ reasons, counts, filters: { organization } }: Inbox) => {
  return (
    <>
      <h2>Why events are quarantined</h2>
      <Table
        caption="Quarantined events by reason"
        hideCaption
        rows={reasons}
        columns={{
          Events: { count: ({ count }) => count, cap: COUNT_CAP },
          Reason: ({ type, reason }) => (
            <a href={withQuery("/inbox", { organization, state: "quarantined", type, reason })}>{reason}</a>
          ),
          Type: ({ type }) => type,
          First: ({ first }) => <Time at={first} />,
          Last: ({ last }) => <Time at={last} />,
        }}
      />
      {organization === undefined ? (
        <p>To replay them all, choose an organization below. To replay one, open it.</p>
      ) : (
        <ActionForm
          action={replayInbox}
          hidden={{ organization, all: true }}
          label={`Replay all ${capped(counts.quarantined)}`}
        >
          <p>
            They wait again, and are applied in the order of their receipt. What still cannot be applied comes back.
          </p>
        </ActionForm>
      )}
    </>
  )
}

const Received = ({ hours, address }: Inbox) => {
  const [first] = hours
  if (first === undefined) return null
  const from = toUnixMillis(first.at)
  return (
    <Histogram
      title={`Received in the last ${HOURS} hours`}
      series={{ acknowledged: "accent", "bad signature": "bad", refused: "warning" }}
      buckets={hours.map(({ at, received, badSignatures, refused }) => ({
        at: toUnixMillis(at),
        counts: { acknowledged: received, "bad signature": badSignatures, refused },
      }))}
      from={from}
      to={from + HOURS * HOUR_MS}
      brush={withQuery(address, { state: "applied" })}
      empty="Nothing was received."
    />
  )
}

const Events = ({ list: { entries, next }, state, organizations, filters }: Inbox) => (
  <Table
    caption={TITLES[state]}
    hideCaption
    rows={entries}
    empty={
      next === null
        ? EMPTY[state]
        : "None of the last 500 events that were received fits. The next page looks further back."
    }
    columns={{
      Event: ({ organizationId, eventId }) => (
        <a href={`/inbox/${encodeURIComponent(eventId)}?organization=${organizationId}`}>
          <code>{eventId}</code>
        </a>
      ),
      Reason: state === "quarantined" && (({ reason }) => reason),
      Type: ({ type }) => type,
      Organization:
        filters.organization === undefined &&
        (({ organizationId }) => organizations.find(({ id }) => id === organizationId)?.name ?? organizationId),
      Received: ({ receivedAt }) => <Time at={receivedAt} />,
      Quarantined: state === "quarantined" && (({ quarantinedAt }) => <Time at={quarantinedAt} />),
      Applied: state === "applied" && (({ appliedAt }) => <Time at={appliedAt} />),
      "Repeated with other content": { number: ({ differing }) => (differing === 0 ? "–" : formatCount(differing)) },
    }}
  />
)
