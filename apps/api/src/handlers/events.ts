import { FEED_EVENT_TYPES, type FeedEvent } from "@outreach/contract"
import type { EventId, OrganizationId } from "@outreach/domain/Identifier"
import { RecipientRepository } from "@outreach/domain/recipients/Recipient"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { EventFeed, type FeedPosition, feedFrom, type PublishedEvent } from "@outreach/postgres/events/EventFeed"
import { Effect } from "effect"
import * as z from "zod"
import { Json } from "../http/encode.ts"
import type { Handler, HandlerInput } from "../http/Handlers.ts"
import { listPage } from "./listPage.ts"
import { expandedMembers, recipientRecord, summariesFor } from "./recipientRecord.ts"

const Position: z.ZodType<FeedPosition, FeedPosition> = z.object({
  emittedAt: z.custom<Timestamp>(),
  id: z.custom<EventId>(),
})

/** Lists the events emitted since a time, in pages. */
export const listEvents: Handler<"listEvents"> = Effect.fnUntraced(function* (input: HandlerInput<"listEvents">) {
  const { organizationId } = input.caller
  const { type, "types[]": types, "expand[]": expansion } = input.query
  const since = input.query.since as Timestamp
  // In catalogue order, so that equal filters have the same cursor scope.
  const wanted = FEED_EVENT_TYPES.filter((name) => name === type || types.includes(name))
  const filter = wanted.length === 0 ? FEED_EVENT_TYPES : wanted
  const feed = yield* EventFeed
  return yield* listPage(input, {
    scope: ["listEvents", organizationId, since, filter],
    position: Position,
    start: feedFrom(since),
    read: (after, limit) => feed.page(organizationId, filter, after, limit),
    toWire: eventsToWire(organizationId, expansion),
  })
})

type EventExpansion = ReadonlyArray<"campaign" | "program" | "recipient">

// The stored envelope is the sent text. Expanded members are appended after its last member without changing the rest.
const eventsToWire = (organizationId: OrganizationId, expansion: EventExpansion) =>
  Effect.fnUntraced(function* (events: ReadonlyArray<PublishedEvent>, livemode: boolean) {
    if (expansion.length === 0) return events.map(({ body }) => new Json<FeedEvent>(body))
    const summaries = yield* summariesFor(
      organizationId,
      events,
      expansion.filter((name) => name !== "recipient"),
    )
    const recipients = expansion.includes("recipient")
      ? yield* (yield* RecipientRepository).findAll(
          organizationId,
          events.flatMap(({ recipientId }) => recipientId ?? []),
        )
      : new Map<never, never>()
    return events.map(({ body, campaignId, recipientId }) => {
      const summary = summaries.get(campaignId)
      const recipient = recipientId === null ? undefined : recipients.get(recipientId)
      const members = expandedMembers(expansion, livemode, summary)
      if (!expansion.includes("recipient")) return new Json<FeedEvent>(`${body.slice(0, -1)}${members}}`)
      const record = recipient ? recipientRecord(recipient, livemode).text : null
      return new Json<FeedEvent>(`${body.slice(0, -1)}${members},"recipient":${record}}`)
    })
  })
