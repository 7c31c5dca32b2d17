import type { PgConnection } from "@effect/sql-pg"
import { type InboundMessage, Inbox, type Receipt } from "@outreach/domain/inbox/Inbox"
import { Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { coalesce } from "../coalesce.ts"
import { orDieAs } from "../DatabaseFailure.ts"
import { Hints } from "../events/Hints.ts"

/** The most messages that one statement stores: together at most 32 MiB. */
const MAX_BATCH_SIZE = 32
/** How many such statements are under way. */
const STORE_CONCURRENCY = 4

/** Keeps what partners send in PostgreSQL. */
export const InboxPg = Layer.effect(
  Inbox,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const hints = yield* Hints

    // In the order of the key, so that the statements of several processes never wait for each other in a circle.
    const insertBatch = Effect.fnUntraced(function* (messages: ReadonlyArray<InboundMessage>) {
      const column = (read: (message: InboundMessage) => string) => messages.map(read)
      const rows = yield* sql<{ organizationId: string; eventId: string }>`
        insert into inbox (organization_id, event_id, endpoint_id, type, npi, body, received_at)
        select organization_id, event_id, endpoint_id, type, nullif(npi, ''), body, now + position * interval '1 microsecond'
        from unnest(
          ${column(({ organizationId }) => organizationId)}::text[], ${column(({ eventId }) => eventId)}::text[],
          ${column(({ endpointId }) => endpointId)}::text[], ${column(({ type }) => type)}::text[],
          ${column(({ npi }) => npi ?? "")}::text[], ${column(({ body }) => body)}::text[]
        ) with ordinality as given (organization_id, event_id, endpoint_id, type, npi, body, position),
          (select clock_timestamp() as now offset 0) clock
        order by organization_id, event_id
        on conflict do nothing
        returning organization_id as "organizationId", event_id as "eventId"`
      return new Set(rows.map(keyOf))
    })

    // Counts on the first one that another came under its id with another body.
    const compare = Effect.fnUntraced(function* ({ organizationId, eventId, body }: InboundMessage) {
      const differing = yield* sql`
        update inbox set differing = differing + 1
        where organization_id = ${organizationId} and event_id = ${eventId} and body <> ${body} returning event_id`
      return differing.length > 0 ? ("differs" as const) : ("repeated" as const)
    })

    // A message that comes alone is stored by the plainest statement there is, which saves the server 80 µs of the 370 that an array
    // of one takes it.
    const receiveOne = Effect.fnUntraced(function* (message: InboundMessage) {
      const { organizationId, eventId, endpointId, type, npi, body } = message
      const inserted = yield* sql`
        insert into inbox (organization_id, event_id, endpoint_id, type, npi, body, received_at)
        values (${organizationId}, ${eventId}, ${endpointId}, ${type}, ${npi}, ${body}, clock_timestamp())
        on conflict do nothing`.raw
      return (inserted as PgConnection.Result).rowCount === 1 ? ("stored" as const) : yield* compare(message)
    })

    // Messages that come together share a statement, and one that comes twice in it is stored once. What is not new is rare, and is
    // looked at one by one: a statement that inserts and compares cost 1.4 ms a message beside some 30,000 others, because the plan that
    // PostgreSQL keeps for it scans the table; this one costs 0.05 ms.
    const receiveBatch = Effect.fnUntraced(function* (messages: ReadonlyArray<InboundMessage>) {
      const firsts = new Map<string, InboundMessage>()
      for (const message of messages) if (!firsts.has(keyOf(message))) firsts.set(keyOf(message), message)
      const stored = yield* insertBatch([...firsts.values()])
      return yield* Effect.forEach(messages, (message): Effect.Effect<Receipt, SqlError.SqlError> => {
        const isFirst = firsts.get(keyOf(message)) === message
        return isFirst && stored.has(keyOf(message)) ? Effect.succeed("stored") : compare(message)
      })
    })

    const receive = yield* coalesce(
      MAX_BATCH_SIZE,
      Effect.fnUntraced(function* (messages: ReadonlyArray<InboundMessage>) {
        const receipts = messages.length === 1 ? [yield* receiveOne(messages[0]!)] : yield* receiveBatch(messages)
        for (const id of new Set(messages.map(({ organizationId }) => organizationId))) yield* hints.give("inbox", id)
        return receipts
      }, orDieAs("Inbox.receive")),
      STORE_CONCURRENCY,
    )

    return { receive }
  }),
)

const keyOf = ({ organizationId, eventId }: { readonly organizationId: string; readonly eventId: string }): string =>
  `${organizationId} ${eventId}`
