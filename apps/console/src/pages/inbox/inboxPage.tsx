import { formatCapped, formatDuration } from "@outreach/backoffice/format"
import { InboxReader } from "@outreach/backoffice/inbox/InboxReader"
import { inbox } from "@outreach/backoffice/lists/inbox"
import { replayInbox } from "@outreach/backoffice/operations/inbox"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import { INBOUND_TYPES } from "@outreach/domain/inbox/parseInboundEvent"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { ConfirmLink } from "../../components/forms.tsx"
import { Chips, Table, withQuery } from "../../components/layout.tsx"
import { ShortId, Time } from "../../components/values.tsx"
import { listPage } from "../../http/listPage.tsx"
import { operationConfirmation } from "../../http/operationRoutes.tsx"

const readSummary = Effect.fnUntraced(function* ({ organizationId, waiting, applied }: Filter, now: number) {
  const { counts, reasons } = yield* InboxReader
  const found = yield* Effect.all(
    { counts: counts(organizationId), reasons: reasons(organizationId) },
    { concurrency: "unbounded" },
  )
  const state: keyof typeof TITLES = waiting ? "waiting" : applied ? "applied" : "quarantined"
  return { ...found, state, organization: organizationId, now }
})

type Filter = Parameters<typeof inbox.read>[0]
type Summary = Effect.Success<ReturnType<typeof readSummary>>

const TITLES = { quarantined: "Quarantined events", waiting: "Pending events", applied: "Applied events" }

const inboxPages = listPage("/inbox", inbox, {
  read: ({ filter, context }) => readSummary(filter, context.now),
  cells: {
    eventId: ({ organizationId, eventId }) => (
      <a href={`/inbox/${encodeURIComponent(eventId)}?organization=${organizationId}`}>
        <ShortId>{eventId}</ShortId>
      </a>
    ),
  },
  around: ({ filter: { type }, ...view }) => ({
    above: (
      <>
        <States {...view} />
        {view.reasons.length > 0 && <Reasons {...view} />}
        <h2>{TITLES[view.state]}</h2>
      </>
    ),
    controls: {
      type: { options: [...new Set([...INBOUND_TYPES, ...(type === undefined ? [] : [type])])] },
      reason: view.state === "quarantined" && {},
    },
  }),
})

const capped = (count: number): string => formatCapped(count, COUNT_CAP)

const States = ({ counts: { quarantined, waiting, waitingSince }, state, organization, now }: Summary) => {
  const since = waitingSince === null ? "" : `, oldest for ${formatDuration((now - toUnixMillis(waitingSince)) / 1000)}`
  const chips = [
    ["quarantined", `Quarantined: ${capped(quarantined)}`, {}],
    ["waiting", `Pending: ${capped(waiting)}${since}`, { waiting: "yes" }],
    ["applied", "Applied", { applied: "yes" }],
  ] as const
  return (
    <Chips
      label="States"
      address={withQuery("/inbox", { organization })}
      chips={chips.map(([each, text, query]) => ({ text, query, isChosen: each === state }))}
    />
  )
}

const Reasons = ({ reasons, counts, organization }: Summary) => (
  <>
    <Table
      title="Quarantine reasons"
      label="Quarantined events by reason"
      rows={reasons}
      columns={{
        Events: { count: ({ count }) => count, cap: COUNT_CAP },
        Reason: ({ type, reason }) => <a href={withQuery("/inbox", { organization, type, reason })}>{reason}</a>,
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

export const inboxRoutes = [...inboxPages, ...replayRoutes] as const
