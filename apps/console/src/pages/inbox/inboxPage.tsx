import { formatCapped, formatCount, formatDuration, nameIn } from "@outreach/backoffice/format"
import { InboxReader } from "@outreach/backoffice/inbox/InboxReader"
import { inboxFilters } from "@outreach/backoffice/lists/inbox"
import { oneOf } from "@outreach/backoffice/operations/Field"
import { replayInbox } from "@outreach/backoffice/operations/inbox"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import { OrganizationId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { INBOX_STATES, type InboxState } from "@outreach/domain/inbox/InboxRepository"
import { INBOUND_TYPES } from "@outreach/domain/inbox/parseInboundEvent"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect, Schema } from "effect"
import { ConfirmLink, FilterBar } from "../../components/forms.tsx"
import { Chips, Page, Pager, Table, withQuery } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { ShortId, Time } from "../../components/values.tsx"
import { operationConfirmation } from "../../http/operationRoutes.tsx"
import { definePage } from "../../http/Route.ts"
import { defineCursor, type InputsOf, inputsOfFilters, valuesOf } from "../../view/inputs.ts"

const PAGE_SIZE = 50

const inboxCursor = defineCursor({ at: Instant, organizationId: OrganizationId, eventId: Schema.NonEmptyString })

const filters = {
  ...inputsOfFilters(inboxFilters),
  state: oneOf(INBOX_STATES).annotate({ expected: "quarantined, waiting or applied" }),
}
const inputs = { ...filters, after: inboxCursor.input }

const inboxPage = definePage("/inbox", {
  inputs,
  run: (input, { now }) => Effect.map(readInbox(input, now), contentOf),
})

const readInbox = Effect.fnUntraced(function* (
  { state = "quarantined", reason, after, ...others }: InputsOf<typeof inputs>,
  now: number,
) {
  const reader = yield* InboxReader
  const { organization } = others
  const given = { ...others, reason: state === "quarantined" ? reason : undefined }
  const found = yield* Effect.all(
    {
      organizations: (yield* OrganizationReader).list,
      counts: reader.counts(organization),
      reasons: reader.reasons(organization),
      list: reader.list(state, valuesOf(inboxFilters, given), PAGE_SIZE, after ?? null),
    },
    { concurrency: "unbounded" },
  )
  return { ...found, state, given, now, address: withQuery("/inbox", { organization }) }
})

type Inbox = Effect.Success<ReturnType<typeof readInbox>>

const STATES: Readonly<Record<InboxState, readonly [title: string, empty: string]>> = {
  quarantined: ["Quarantined events", "No quarantined events."],
  waiting: ["Pending events", "No pending events. Workers apply events within seconds."],
  applied: ["Applied events", "No applied events."],
}

const contentOf = (inbox: Inbox) => {
  const { organizations, reasons, list, state, given } = inbox
  const { organization, ...others } = given
  const types = new Set([...INBOUND_TYPES, ...(given.type === undefined ? [] : [given.type])])
  const isQuarantined = state === "quarantined"
  const [title, empty] = STATES[state]
  return (
    <Page title="Inbox" commands={[ops("inbox list", { organization, [state]: !isQuarantined, ...others })]}>
      <States {...inbox} />
      {reasons.length > 0 && <Reasons {...inbox} />}
      <h2>{title}</h2>
      <FilterBar
        inputs={filters}
        values={{ ...given, state }}
        controls={{
          organization: { options: organizations },
          type: { options: [...types] },
          reason: isQuarantined && {},
        }}
      />
      <Table
        label={title}
        rows={list.entries}
        empty={list.next === null ? empty : "None of the last 500 events matches. Older ones are on the next page."}
        columns={{
          Event: ({ organizationId, eventId }) => (
            <a href={`/inbox/${encodeURIComponent(eventId)}?organization=${organizationId}`}>
              <ShortId>{eventId}</ShortId>
            </a>
          ),
          Reason: isQuarantined && (({ reason }) => reason),
          Type: ({ type }) => type,
          Organization: organization === undefined && (({ organizationId }) => nameIn(organizations, organizationId)),
          Received: ({ receivedAt }) => <Time at={receivedAt} />,
          Quarantined: isQuarantined && (({ quarantinedAt }) => <Time at={quarantinedAt} />),
          Applied: state === "applied" && (({ appliedAt }) => <Time at={appliedAt} />),
          "Conflicting duplicates": {
            number: ({ differing }) => (differing === 0 ? "–" : formatCount(differing)),
          },
        }}
      />
      <Pager next={list.next === null ? undefined : { after: inboxCursor.of(list.next) }} />
    </Page>
  )
}

const capped = (count: number): string => formatCapped(count, COUNT_CAP)

const States = ({ counts: { quarantined, waiting, waitingSince }, state, address, now }: Inbox) => {
  const since = waitingSince === null ? "" : `, oldest for ${formatDuration((now - toUnixMillis(waitingSince)) / 1000)}`
  const chips = [
    ["quarantined", `Quarantined: ${capped(quarantined)}`],
    ["waiting", `Pending: ${capped(waiting)}${since}`],
    ["applied", "Applied"],
  ] as const
  return (
    <Chips
      label="States"
      address={address}
      chips={chips.map(([each, text]) => ({ text, query: { state: each }, isChosen: each === state }))}
    />
  )
}

const Reasons = ({ reasons, counts, given: { organization } }: Inbox) => (
  <>
    <Table
      title="Quarantine reasons"
      label="Quarantined events by reason"
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
      <p>Choose an organization below to replay all of them, or open one to replay it.</p>
    ) : (
      <ConfirmLink
        page={replayRoutes[0]}
        query={{ organization, all: true }}
        label={`Replay all ${capped(counts.quarantined)}`}
      />
    )}
  </>
)

const replayRoutes = operationConfirmation("/inbox/replay", replayInbox, {
  omit: ["event"],
  chosen: ["organizationId", "all"],
  back: ({ organizationId }) => `/inbox?organization=${organizationId}`,
})

export const inboxRoutes = [inboxPage, ...replayRoutes] as const
