import type { PgConnection } from "@effect/sql-pg"
import { coalesce } from "@outreach/domain/coalesce"
import { OrganizationId } from "@outreach/domain/Identifier"
import {
  ERASED_BODY_END,
  InboundMessage,
  InboxEntry,
  InboxEntryDropped,
  InboxEntryNotFound,
  InboxRepository,
  NotQuarantined,
  type Receipt,
  WaitingEvent,
} from "@outreach/domain/inbox/InboxRepository"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Struct } from "effect"
import type { SqlError } from "effect/sql"
import { adapter } from "../adapter.ts"
import { Hints } from "../events/Hints.ts"
import { decodeColumn, decodeRows, first, firstOr, rowsOf, toTable } from "../rowsOf.ts"
import { inboxColumns } from "./inboxRows.ts"

const insertedRows = rowsOf(InboundMessage.mapFields(Struct.pick(["organizationId", "eventId"])))
const decodeFound = decodeRows({ ...InboxEntry.fields, body: InboundMessage.fields.body })
const decodeReceipts = decodeColumn({ received_at: Timestamp })
const decodeIds = decodeColumn({ id: OrganizationId })
const waiting = rowsOf(WaitingEvent)

/** Higher counts of webhooks without a valid signature are stored as this one. */
const MAX_REJECTIONS = 1_000_000_000
/** The maximum number of messages per statement: together at most 32 MiB. */
const MAX_BATCH_SIZE = 32
/** The number of concurrent statements. */
const STORE_CONCURRENCY = 4

export const InboxRepositoryPg = adapter(InboxRepository, function* (sql) {
  const hints = yield* Hints
  // Inserted in key order to avoid deadlocks between processes.
  const insertBatch = Effect.fnUntraced(function* (messages: ReadonlyArray<InboundMessage>) {
    const given = messages.map((message) => ({
      ...message,
      npi: message.npi ?? "",
      traceparent: message.traceparent ?? "",
    }))
    const table = toTable(
      "given",
      given,
      {
        ...{ organizationId: "text", eventId: "text", endpointId: "text", secretId: "text" },
        ...{ type: "text", npi: "text", body: "text", traceparent: "text" },
      },
      { position: "position" },
    )
    const rows = yield* sql`
        insert into inbox (organization_id, event_id, endpoint_id, secret_id, type, npi, body, traceparent, received_at)
        select organization_id, event_id, endpoint_id, secret_id, type, nullif(npi, ''), body, nullif(traceparent, ''),
          now + position * interval '1 microsecond'
        from ${table}, (select clock_timestamp() as now offset 0) clock
        order by organization_id, event_id
        on conflict do nothing
        returning ${insertedRows.columns}`.pipe(insertedRows.decode)
    return new Set(rows.map(keyOf))
  })

  // If the id has a different body, counts that on the stored message. The content of an erased message is unknown.
  const compare = Effect.fnUntraced(function* ({ organizationId, eventId, body }: InboundMessage) {
    const differing = yield* sql`
        update inbox set differing = differing + 1
        where organization_id = ${organizationId} and event_id = ${eventId} and body <> ${body}
          and right(body, ${ERASED_BODY_END.length}::int) <> ${ERASED_BODY_END}
        returning event_id`
    if (differing.length > 0) return "differs" as const
    // The first message may not be replicated yet, if its wait for a standby was cancelled. This waits until all earlier commits are replicated.
    yield* sql`
        select pg_logical_emit_message(true, 'outreach', 'repeated') is null where current_setting('synchronous_standby_names') <> ''`
    return "repeated" as const
  })

  // A simple insert for a single message saves 80 of the 370 µs of server time that an array of one costs.
  const receiveOne = Effect.fnUntraced(function* (message: InboundMessage) {
    const { organizationId, eventId, endpointId, secretId, type, npi, body, traceparent } = message
    const inserted = yield* sql`
        insert into inbox (organization_id, event_id, endpoint_id, secret_id, type, npi, body, traceparent, received_at)
        values (${organizationId}, ${eventId}, ${endpointId}, ${secretId}, ${type}, ${npi}, ${body}, ${traceparent}, clock_timestamp())
        on conflict do nothing`.raw
    return (inserted as PgConnection.Result).rowCount === 1 ? ("stored" as const) : yield* compare(message)
  })

  // Several messages share a statement, and a duplicate in it is stored once. Duplicates are rare and are
  // compared one by one: a statement that inserts and compares took 1.4 ms per message in a table of 30,000, because its
  // generic plan scans the table; this one takes 0.05 ms.
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
    }),
    { concurrency: STORE_CONCURRENCY },
  )

  const find = Effect.fnUntraced(function* (organizationId: OrganizationId, eventId: string) {
    const entry = yield* sql`
        select ${inboxColumns}, body from inbox where organization_id = ${organizationId} and event_id = ${eventId}`.pipe(
      decodeFound,
      first,
    )
    if (entry !== undefined) return entry
    const receivedAt = yield* sql`
        select received_at from inbox_keys where organization_id = ${organizationId} and event_id = ${eventId}`.pipe(
      decodeReceipts,
      firstOr(InboxEntryNotFound, { organizationId, eventId }),
    )
    return yield* new InboxEntryDropped({ organizationId, eventId, receivedAt })
  })

  return {
    receive,

    organizations: sql`
        select id from organizations organization
        where exists (
          select from inbox where organization_id = organization.id and applied_at is null and quarantined_at is null
        ) or exists (
          select from programs program
          where program.organization_id = organization.id and quota_reached(program.organization_id, program.id)
            and exists (
              select from campaigns campaign
              where organization_id = program.organization_id and program_id = program.id and exists (
                select from recipients where organization_id = program.organization_id and campaign_id = campaign.id
                  and sent_at is null and bounced_at is null and withdrawn_at is null))
        )
        order by id`.pipe(decodeIds),

    readWaiting: (organizationId, limit) =>
      sql`
          select ${waiting.columns} from inbox
          where organization_id = ${organizationId} and applied_at is null and quarantined_at is null
          order by received_at, event_id limit ${limit}`.pipe(waiting.decode),

    countRejections: (rejections) =>
      sql`
          insert into signature_rejections as known (endpoint_id, reason, count)
          select endpoint_id, reason, count
          from ${toTable("given", rejections, { endpointId: "text", reason: "text", count: "int" })}
          where exists (select from webhook_endpoints where id = endpoint_id)
          -- In key order to avoid deadlocks between processes.
          order by endpoint_id, reason
          on conflict (endpoint_id, reason) do update set
            count = least(known.count + excluded.count, ${MAX_REJECTIONS}::int), last_at = clock_timestamp()`,

    markApplied: (organizationId, eventIds) =>
      sql`
          update inbox set applied_at = clock_timestamp()
          where organization_id = ${organizationId} and event_id = any (${eventIds}::text[])`,

    erase: (organizationId, events) =>
      sql`
          update inbox set body = given.body, npi = null
          from ${toTable("given", events, { eventId: "text", body: "text" })}
          where organization_id = ${organizationId} and inbox.event_id = given.event_id`,

    quarantine: (organizationId, events) =>
      sql`
          update inbox set quarantined_at = clock_timestamp(), reason = given.reason
          from ${toTable("given", events, { eventId: "text", reason: "text" })}
          where organization_id = ${organizationId} and inbox.event_id = given.event_id and applied_at is null`,

    find,

    replay: Effect.fnUntraced(function* (organizationId, eventId) {
      const rows = yield* sql`
          update inbox set quarantined_at = null, reason = null
          where organization_id = ${organizationId} and event_id = ${eventId} and quarantined_at is not null returning 1`
      if (rows.length > 0) return yield* hints.give("inbox", organizationId)
      return yield* new NotQuarantined({ eventId, state: (yield* find(organizationId, eventId)).state })
    }),

    replayAll: (organizationId) =>
      sql`
          update inbox set quarantined_at = null, reason = null
          where organization_id = ${organizationId} and quarantined_at is not null`.raw.pipe(
        Effect.map((result) => (result as PgConnection.Result).rowCount),
        Effect.tap(hints.give("inbox", organizationId)),
      ),
  }
})

const keyOf = ({ organizationId, eventId }: Pick<InboundMessage, "organizationId" | "eventId">): string =>
  `${organizationId} ${eventId}`
