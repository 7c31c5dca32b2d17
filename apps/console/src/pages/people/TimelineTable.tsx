import type { EventDelivery } from "@outreach/backoffice/deliveries/EventDeliveries"
import type { Tone } from "@outreach/backoffice/operations/List"
import type { TimelineEntry, TimelineKind } from "@outreach/backoffice/recipients/TimelineReader"
import { Array as Arr } from "effect"
import { Table } from "../../components/layout.tsx"
import { IdLink, inboxPageOf } from "../../components/values.tsx"
import { DeliveryState } from "../deliveries/deliveriesPage.tsx"

const KINDS: Readonly<Record<TimelineKind, readonly [words: string, tone: Tone]>> = {
  imported: ["Imported", "neutral"],
  published: ["Published", "neutral"],
  attempted: ["Not accepted yet", "warning"],
  sent: ["Sent", "good"],
  refused_later: ["Rejected later", "bad"],
  bounced: ["Bounced", "bad"],
  opened: ["Opened", "good"],
  clicked: ["Clicked", "good"],
  complained: ["Complained", "bad"],
  unsubscribed: ["Unsubscribed", "warning"],
  resubscribed: ["Resubscribed", "neutral"],
  received: ["Partner reported", "neutral"],
  suppressed: ["Suppressed", "warning"],
  withdrawn: ["Withdrawn", "warning"],
}

export const TimelineTable = (props: {
  readonly entries: ReadonlyArray<TimelineEntry>
  readonly deliveries: ReadonlyArray<EventDelivery>
  readonly names?: ReadonlyMap<string, string>
}) => {
  const byEvent = Arr.groupBy(props.deliveries, ({ eventId }) => eventId as string)
  return (
    <Table
      label="Timeline, newest first"
      rows={props.entries}
      empty="No entries yet."
      columns={{
        Time: ({ at }) => ({ at }),
        Entry: ({ kind, detail }) => {
          const [word, tone] = KINDS[kind]
          const isBot = (kind === "opened" || kind === "clicked") && detail !== null
          return { tone: isBot ? "neutral" : tone, word }
        },
        Detail: ({ detail }) => detail ?? "–",
        Where: ({ kind, organizationId, programId, campaignId, eventId }) => {
          if (kind === "received" && eventId !== null) {
            return { to: inboxPageOf(eventId, organizationId), name: "Inbox" }
          }
          const id = campaignId ?? programId
          return id === null ? "Whole organization" : { id, name: props.names?.get(id) ?? id }
        },
        Webhooks: ({ kind, eventId }) =>
          kind === "received" || eventId === null ? (
            "–"
          ) : (
            <>
              <IdLink id={eventId}>Event</IdLink>
              <Deliveries of={byEvent[eventId] ?? []} />
            </>
          ),
      }}
    />
  )
}

const Deliveries = (props: { readonly of: ReadonlyArray<EventDelivery> }) =>
  props.of.length === 0 ? (
    <>, deliveries deleted or none</>
  ) : (
    <ul>
      {props.of.map(({ id, state, replayedAs }) => (
        <li key={id}>
          <DeliveryState state={state} replayedAs={replayedAs} /> <IdLink id={id}>Delivery</IdLink>
          {replayedAs !== null && (
            <>
              {" "}
              <IdLink id={replayedAs}>Replay</IdLink>
            </>
          )}
        </li>
      ))}
    </ul>
  )
