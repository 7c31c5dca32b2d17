import { type ErasedRecipient, type ErasedSubject, eraseEventBody } from "@outreach/domain/erasure/Erasure"
import type { LaterTable } from "@outreach/domain/erasure/PersonalData"
import { EventId, RecipientId } from "@outreach/domain/Identifier"
import { eraseInboundBody } from "@outreach/domain/inbox/eraseInboundBody"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Array as Arr, Effect, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { replaceAttempts } from "../deliveries/replaceAttempts.ts"
import { decodeRows } from "../rowsOf.ts"
import { PersonalDataFinder } from "./PersonalDataFinder.ts"

/** How many rows one transaction erases. */
const BATCH_SIZE = 200

const decodeEvents = decodeRows({
  id: EventId,
  emittedAt: Timestamp,
  recipientId: Schema.NullOr(RecipientId),
  body: Schema.String,
})
const decodeBodies = decodeRows({ eventId: Schema.String, body: Schema.String })
const decodeTotals = decodeRows({ bytes: Schema.String })

/** Erase the rows of a table that concern a subject; each returns how many there were. */
type Erasers = Readonly<Record<LaterTable, (subject: ErasedSubject) => Effect.Effect<number, SqlError.SqlError>>>

/**
 * Creates the functions that erase the tables which an erasure's first transaction leaves.
 *
 * Each batch is a transaction of its own: a clinician's rows may be thousands, and partners' requests wait for those that are locked.
 */
export const createErasers: Effect.Effect<Erasers, never, SqlClient.SqlClient | PersonalDataFinder> = Effect.gen(
  function* () {
    const sql = yield* SqlClient.SqlClient
    const { concerning, searches } = yield* PersonalDataFinder

    const inBatches = Effect.fnUntraced(function* <Row>(
      rows: ReadonlyArray<Row>,
      erase: (batch: ReadonlyArray<Row>) => Effect.Effect<unknown, SqlError.SqlError>,
    ) {
      for (const batch of Arr.chunksOf(rows, BATCH_SIZE)) yield* sql.withTransaction(erase(batch))
      return rows.length
    })

    const eraseEvents = Effect.fnUntraced(function* (subject: ErasedSubject) {
      const { organizationId } = subject
      const placeholders = new Map<string, ErasedRecipient>(subject.placeholders.map((each) => [each.id, each]))
      return yield* inBatches(
        yield* searches.events(subject),
        Effect.fnUntraced(function* (batch) {
          const ids = batch.map(({ id }) => id)
          const times = batch.map(({ emittedAt }) => emittedAt)
          const rows = yield* sql`
            select event.id, emitted_at as "emittedAt", recipient_id as "recipientId", body
            from unnest(${ids}::text[], ${times}::timestamptz[]) as key (id, at)
            join events event on event.organization_id = ${organizationId} and event.id = key.id and emitted_at = key.at
            order by event.id for update of event`.pipe(decodeEvents)
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
    })

    const eraseHits = Effect.fnUntraced(function* (subject: ErasedSubject) {
      const isTheirs = concerning("hits", subject)
      yield* sql`delete from hit_windows where ${isTheirs}`
      // A hit that waits to be judged is not: no event follows from an erased recipient's hits.
      const erased = yield* sql`
        update hits set address = '', headers = '{}', link = case when kind = 'click' then '' end,
          judged_at = coalesce(judged_at, clock_timestamp()), reasons = coalesce(reasons, '{}')
        where ${isTheirs} returning 1`
      return erased.length
    })

    const eraseInbox = Effect.fnUntraced(function* (subject: ErasedSubject) {
      const { organizationId } = subject
      let count = 0
      yield* inBatches(
        yield* searches.inbox(subject),
        Effect.fnUntraced(function* (batch) {
          const rows = yield* sql`
            select event_id as "eventId", body from inbox
            where organization_id = ${organizationId} and event_id = any (${batch}::text[])
              -- An event that came since the others were applied is erased when it is applied.
              and (applied_at is not null or quarantined_at is not null)
            order by event_id for update`.pipe(decodeBodies)
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

    /** Reads the stored responses before it takes the lock, and with the lock the newer ones: requests wait for that alone. */
    const eraseStoredResponses = Effect.fnUntraced(function* (subject: ErasedSubject) {
      const { organizationId } = subject
      const totals = yield* sql`
        select bytes::text from stored_response_totals where organization_id = ${organizationId}`.pipe(decodeTotals)
      const before = yield* searches.stored_responses(subject)
      const erase = Effect.gen(function* () {
        // A request with a key holds this lock with others while it is executed: what it read before is stored by now.
        yield* sql`select pg_advisory_xact_lock(hashtextextended('responses ' || ${organizationId}, 0))`
        const keys = new Set([...before, ...(yield* searches.stored_responses(subject, totals[0]?.bytes))])
        yield* sql`delete from stored_responses where organization_id = ${organizationId} and key = any (${[...keys]}::text[])`
        return keys.size
      })
      return yield* sql.withTransaction(erase)
    })

    const eraseDeadLetters = Effect.fnUntraced(function* (subject: ErasedSubject) {
      const rows = yield* searches.dead_letters(subject)
      return yield* inBatches(rows, (batch) => replaceAttempts(sql, subject.organizationId, batch))
    })

    const eraseAttempts = Effect.fnUntraced(function* (subject: ErasedSubject) {
      const { organizationId } = subject
      // A worker that writes outcomes of calls holds these rows: it is done, or it sees which events are erased.
      yield* sql`select from endpoint_readers where organization_id = ${organizationId} order by endpoint_id for update`
      const ids = yield* searches.delivery_attempts(subject)
      return yield* inBatches(
        ids,
        (batch) => sql`
          update delivery_attempts set response = null
          where organization_id = ${organizationId} and delivery_id = any (${batch}::text[])`,
      )
    })

    const eraseDelivered = Effect.fnUntraced(function* (subject: ErasedSubject) {
      const rows = yield* searches.delivered(subject)
      return yield* inBatches(
        rows,
        (batch) => sql`
          update delivered set attempts = nullif(given.attempts, 'null')::jsonb, deliveries = nullif(given.deliveries, 'null')::json
          from unnest(
            ${batch.map(({ id }) => id)}::text[], ${batch.map(({ finishedAt }) => finishedAt)}::timestamptz[],
            ${batch.map(({ attempts }) => JSON.stringify(attempts))}::text[], ${batch.map(({ deliveries }) => JSON.stringify(deliveries))}::text[]
          ) as given (id, at, attempts, deliveries)
          where delivered.organization_id = ${subject.organizationId} and delivered.id = given.id and finished_at = given.at`,
      )
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
  },
)
