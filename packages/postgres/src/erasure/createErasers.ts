import {
  type ErasedRecipient,
  type ErasedSubject,
  eraseEventBody,
  type HeldTable,
} from "@outreach/domain/erasure/Erasure"
import type { EventId, RecipientId } from "@outreach/domain/Identifier"
import { eraseInboundBody } from "@outreach/domain/inbox/eraseInboundBody"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Array as Arr, Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { replaceAttempts } from "../deliveries/replaceAttempts.ts"
import { HeldRows } from "./HeldRows.ts"

/** How many rows one transaction erases. */
const BATCH_SIZE = 200

/** Erase the rows of a table that concern a subject; each returns how many there were. */
type Erasers = Partial<Record<HeldTable, (subject: ErasedSubject) => Effect.Effect<number, SqlError.SqlError>>>

/** Creates the functions that erase the tables which an erasure's first transaction leaves. */
export const createErasers: Effect.Effect<Erasers, never, SqlClient.SqlClient | HeldRows> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const held = yield* HeldRows

  /** Erases the rows of a table one batch after another, each in a transaction. */
  const inBatches = <Row>(
    rows: ReadonlyArray<Row>,
    erase: (batch: ReadonlyArray<Row>) => Effect.Effect<unknown, SqlError.SqlError>,
  ) => Effect.forEach(Arr.chunksOf(rows, BATCH_SIZE), (batch) => sql.withTransaction(erase(batch)), { discard: true })

  const eraseEvents = Effect.fnUntraced(function* (subject: ErasedSubject) {
    const { organizationId } = subject
    const placeholders = new Map<string, ErasedRecipient>(subject.placeholders.map((each) => [each.id, each]))
    const keys = yield* held.events(subject)
    yield* inBatches(
      keys,
      Effect.fnUntraced(function* (batch) {
        const ids = batch.map(({ id }) => id)
        const times = batch.map(({ emittedAt }) => emittedAt)
        const rows = yield* sql<EventRow>`
          select event.id, emitted_at as "emittedAt", recipient_id as "recipientId", body
          from unnest(${ids}::text[], ${times}::timestamptz[]) as key (id, at)
          join events event on event.organization_id = ${organizationId} and event.id = key.id and emitted_at = key.at
          order by event.id for update of event`
        yield* sql`
          update events event set body = given.body
          from unnest(
            ${rows.map(({ id }) => id)}::text[], ${rows.map(({ emittedAt }) => emittedAt)}::timestamptz[],
            ${rows.map((row) => eraseEventBody(row, placeholders))}::text[]
          ) as given (id, at, body)
          where event.organization_id = ${organizationId} and event.id = given.id and emitted_at = given.at`
        yield* sql`
          insert into erased_events (organization_id, event_id)
          select ${organizationId}, id from unnest(${ids}::text[]) as id
          on conflict (organization_id, event_id) do update set erased_at = excluded.erased_at`
      }),
    )
    return keys.length
  })

  const eraseHits = Effect.fnUntraced(function* ({ organizationId, recipients }: ErasedSubject) {
    const ids = recipients.map(({ id }) => id)
    yield* sql`delete from hit_windows where organization_id = ${organizationId} and recipient_id = any (${ids}::text[])`
    // One that waits to be judged is not: nothing is told of an erased recipient any more.
    const rows = yield* sql<{ count: number }>`
      with erased as (
        update hits set address = '', headers = '{}', link = case when kind = 'click' then '' end,
          judged_at = coalesce(judged_at, clock_timestamp()), reasons = coalesce(reasons, '{}')
        where organization_id = ${organizationId} and recipient_id = any (${ids}::text[]) returning 1
      )
      select count(*)::int as count from erased`
    return rows[0]!.count
  })

  const eraseInbox = Effect.fnUntraced(function* (subject: ErasedSubject) {
    const { organizationId } = subject
    let count = 0
    yield* inBatches(
      yield* held.inbox(subject),
      Effect.fnUntraced(function* (batch) {
        const rows = yield* sql<{ eventId: string; body: string }>`
          select event_id as "eventId", body from inbox
          where organization_id = ${organizationId} and event_id = any (${batch}::text[])
            -- An event that came since the others were applied is erased when it is applied.
            and (applied_at is not null or quarantined_at is not null)
          order by event_id for update`
        count += rows.length
        yield* sql`
          update inbox set npi = null, body = given.body
          from unnest(
            ${rows.map(({ eventId }) => eventId)}::text[], ${rows.map(({ body }) => eraseInboundBody(body))}::text[]
          ) as given (event_id, body)
          where organization_id = ${organizationId} and inbox.event_id = given.event_id`
      }),
    )
    return count
  })

  // Whoever executes a request with a key holds this lock with others: what was read before is stored by now.
  const lockResponses = ({ organizationId }: ErasedSubject) =>
    sql`select pg_advisory_xact_lock(hashtextextended('responses ' || ${organizationId}, 0))`

  /** Reads what is stored before it takes the lock, and with the lock what came meanwhile: requests wait for that alone. */
  const eraseStoredResponses = Effect.fnUntraced(function* (subject: ErasedSubject) {
    const { organizationId } = subject
    const totals = yield* sql<{ bytes: string }>`
      select bytes::text from stored_response_totals where organization_id = ${organizationId}`
    const before = yield* held.storedResponseKeys(subject)
    const erase = Effect.gen(function* () {
      yield* lockResponses(subject)
      const keys = [...new Set([...before, ...(yield* held.storedResponseKeys(subject, totals[0]?.bytes))])]
      yield* sql`delete from stored_responses where organization_id = ${organizationId} and key = any (${keys}::text[])`
      return keys.length
    })
    return yield* sql.withTransaction(erase)
  })

  const eraseDeadLetters = Effect.fnUntraced(function* (subject: ErasedSubject) {
    const rows = yield* held.deadLetters(subject)
    yield* inBatches(rows, (batch) => replaceAttempts(sql, subject.organizationId, batch))
    return rows.length
  })

  const eraseAttempts = Effect.fnUntraced(function* (subject: ErasedSubject) {
    const { organizationId } = subject
    // Whoever writes what came of calls holds these rows: it is done, or it sees which events are erased.
    yield* sql`select from endpoint_readers where organization_id = ${organizationId} order by endpoint_id for update`
    const ids = yield* held.attempts(subject)
    yield* inBatches(
      ids,
      (batch) => sql`
        update delivery_attempts set response = null
        where organization_id = ${organizationId} and delivery_id = any (${batch}::text[])`,
    )
    return ids.length
  })

  const eraseDelivered = Effect.fnUntraced(function* (subject: ErasedSubject) {
    const rows = yield* held.delivered(subject)
    yield* inBatches(
      rows,
      (batch) => sql`
        update delivered set attempts = nullif(given.attempts, 'null')::jsonb, deliveries = nullif(given.deliveries, 'null')::json
        from unnest(
          ${batch.map(({ id }) => id)}::text[], ${batch.map(({ finishedAt }) => finishedAt)}::timestamptz[],
          ${batch.map(({ attempts }) => JSON.stringify(attempts))}::text[], ${batch.map(({ deliveries }) => JSON.stringify(deliveries))}::text[]
        ) as given (id, at, attempts, deliveries)
        where delivered.organization_id = ${subject.organizationId} and delivered.id = given.id and finished_at = given.at`,
    )
    return rows.length
  })

  return {
    events: eraseEvents,
    hits: eraseHits,
    inbox: eraseInbox,
    stored_responses: eraseStoredResponses,
    dead_letters: eraseDeadLetters,
    delivery_attempts: eraseAttempts,
    delivered: eraseDelivered,
  }
})

interface EventRow {
  readonly id: EventId
  readonly emittedAt: Timestamp
  readonly recipientId: RecipientId | null
  readonly body: string
}
