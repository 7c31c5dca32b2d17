import { type ErasedRecipient, type ErasedSubject, eraseEventBody } from "@outreach/domain/erasure/Erasure"
import type { LaterTable } from "@outreach/domain/erasure/PersonalData"
import { EventId, RecipientId } from "@outreach/domain/Identifier"
import { eraseInboundBody } from "@outreach/domain/inbox/InboxRepository"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Array as Arr, Effect, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { replaceAttempts } from "../deliveries/replaceAttempts.ts"
import { rowsOf, toTable } from "../rowsOf.ts"
import type { PersonalDataFinder } from "./PersonalDataFinder.ts"

const BATCH_SIZE = 200

const events = rowsOf(
  Schema.Struct({ id: EventId, emittedAt: Timestamp, recipientId: Schema.NullOr(RecipientId), body: Schema.String }),
)
const bodies = rowsOf(Schema.Struct({ eventId: Schema.String, body: Schema.String }))

type Erasers = Readonly<Record<LaterTable, (subject: ErasedSubject) => Effect.Effect<number, SqlError.SqlError>>>

/**
 * Creates the functions that erase a subject's rows in the tables that aren't part of an erasure's first transaction; each returns the number of rows.
 *
 * Each batch is a separate transaction, because a clinician may have thousands of rows and partners' requests wait for locked ones.
 */
export const createErasers = (sql: SqlClient.SqlClient, { concerning, searches }: PersonalDataFinder): Erasers => {
  const inBatches = Effect.fnUntraced(function* <Row>(
    search: Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>,
    erase: (batch: ReadonlyArray<Row>) => Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>,
  ) {
    let count = 0
    for (const batch of Arr.chunksOf(yield* search, BATCH_SIZE)) {
      count += (yield* sql.withTransaction(erase(batch))).length
    }
    return count
  })

  return {
    events: (subject) => {
      const { organizationId } = subject
      const placeholders = new Map<string, ErasedRecipient>(subject.placeholders.map((each) => [each.id, each]))
      return inBatches(
        searches.events(subject),
        Effect.fnUntraced(function* (batch) {
          const keys = toTable("key", batch, { id: "text", emittedAt: "timestamptz" })
          const rows = yield* sql`
            select ${events.columnsOf("event")} from ${keys}
            join events event on event.organization_id = ${organizationId} and event.id = key.id and event.emitted_at = key.emitted_at
            order by event.id for update of event`.pipe(events.decode)
          const erased = rows.map((row) => ({ ...row, body: eraseEventBody(row, placeholders) }))
          yield* sql`
            update events event set body = given.body
            from ${toTable("given", erased, { id: "text", emittedAt: "timestamptz", body: "text" })}
            where event.organization_id = ${organizationId} and event.id = given.id and event.emitted_at = given.emitted_at`
          yield* sql`
            insert into erased_events (organization_id, event_id) select ${organizationId}, id from ${keys}
            on conflict (organization_id, event_id) do update set erased_at = excluded.erased_at`
          return batch
        }),
      )
    },

    hits: Effect.fnUntraced(function* (subject) {
      const isTheirs = concerning("hits", subject)
      yield* sql`delete from hit_windows where ${isTheirs}`
      // A hit that isn't classified yet is skipped: hits of an erased recipient don't produce events.
      const erased = yield* sql`
        update hits set address = '', headers = '{}', link = case when kind = 'click' then '' end,
          judged_at = coalesce(judged_at, clock_timestamp()), reasons = coalesce(reasons, '{}')
        where ${isTheirs} returning 1`
      return erased.length
    }),

    inbox: (subject) =>
      inBatches(
        searches.inbox(subject),
        Effect.fnUntraced(function* (batch) {
          const rows = yield* sql`
            select ${bodies.columns} from inbox
            where organization_id = ${subject.organizationId} and event_id = any (${batch}::text[])
              -- An event that arrived in the meantime is erased when it is applied.
              and (applied_at is not null or quarantined_at is not null)
            order by event_id for update`.pipe(bodies.decode)
          const erased = rows.map(({ eventId, body }) => ({ eventId, body: eraseInboundBody(body) }))
          yield* sql`
            update inbox set npi = null, body = given.body from ${toTable("given", erased, { eventId: "text", body: "text" })}
            where organization_id = ${subject.organizationId} and inbox.event_id = given.event_id`
          return rows
        }),
      ),

    dead_letters: (subject) =>
      inBatches(searches.dead_letters(subject), (batch) =>
        Effect.as(replaceAttempts(sql, subject.organizationId, batch), batch),
      ),

    delivery_attempts: Effect.fnUntraced(function* (subject) {
      const { organizationId } = subject
      // Waits for workers that are writing outcomes; later ones see the erased events.
      yield* sql`select from endpoint_readers where organization_id = ${organizationId} order by endpoint_id for update`
      // Any first line may be from an erased response. A group's next failure sets it again, and the remaining dead letters have their own copy.
      yield* sql`
        with held as materialized (
          select id from failure_groups where organization_id = ${organizationId} and stored <= 0 and first_line is not null
          order by id for update
        )
        update failure_groups set first_line = null
        where organization_id = ${organizationId} and id in (select id from held)`
      const erase = (batch: ReadonlyArray<string>) => sql`
        update delivery_attempts set response = null
        where response <> '' and organization_id = ${organizationId} and delivery_id = any (${batch}::text[])`
      return yield* inBatches(searches.delivery_attempts(subject), (batch) => Effect.as(erase(batch), batch))
    }),

    delivered: (subject) =>
      inBatches(searches.delivered(subject), (batch) => {
        const texts = batch.map((row) => ({
          ...row,
          attempts: JSON.stringify(row.attempts),
          deliveries: JSON.stringify(row.deliveries),
        }))
        const erase = sql`
          update delivered set attempts = nullif(given.attempts, 'null')::jsonb, deliveries = nullif(given.deliveries, 'null')::json
          from ${toTable("given", texts, { id: "text", finishedAt: "timestamptz", attempts: "text", deliveries: "text" })}
          where delivered.organization_id = ${subject.organizationId} and delivered.id = given.id
            and delivered.finished_at = given.finished_at`
        return Effect.as(erase, batch)
      }),
  }
}
