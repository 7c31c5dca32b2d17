import { EVENT_TYPES } from "@outreach/contract/names"
import { Attempt } from "@outreach/domain/deliveries/Delivery"
import { createMatcher, likePatterns, type Subject } from "@outreach/domain/erasure/Erasure"
import {
  isKeyed,
  type KeyedTable,
  PERSONAL_DATA,
  type PersonalTable,
  type SearchedTable,
} from "@outreach/domain/erasure/PersonalData"
import { DeliveryId, EndpointId, EventId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Schema, Struct } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import { IN_EVENTS_OF_RECIPIENT, STAMPED_EVENTS } from "../events/recipientEvents.ts"
import { decodeRows, rowsOf } from "../rowsOf.ts"
import { createSubjectFinder, withoutTimeLimit } from "./createSubjectFinder.ts"

const EventKey = Schema.Struct({ id: EventId, emittedAt: Timestamp })
export type EventKey = typeof EventKey.Type

/** A delivery in a batch row, with all its stored fields. */
const Part = Schema.StructWithRest(Schema.Struct({ id: DeliveryId, eventId: EventId, attempt: Attempt }), [
  Schema.Record(Schema.String, Schema.Unknown),
])

/** A row with the attempts of one delivery, or with a batch of deliveries. */
const Delivered = Schema.Struct({
  id: DeliveryId,
  finishedAt: Timestamp,
  eventId: Schema.NullOr(EventId),
  attempts: Schema.NullOr(Schema.Array(Attempt)),
  deliveries: Schema.NullOr(Schema.Array(Part)),
})
export type Delivered = typeof Delivered.Type

/** A dead letter, and the fields that determine its group of failures. */
const DeadLetter = Schema.Struct({ ...Delivered.fields, attempts: Schema.Array(Attempt), endpointId: EndpointId })

const eventKeys = rowsOf(EventKey)
const decodeTexts = decodeRows({ id: Schema.String, text: Schema.NullOr(Schema.String) })
const delivered = rowsOf(Delivered)
const deadLetters = rowsOf(DeadLetter, { deliveries: "null" })

/** Finds the rows of each table that contain a clinician's data. Searches free text completely and without a time limit. */
export const createPersonalDataFinder = (sql: SqlClient.SqlClient) => {
  const unlimited = withoutTimeLimit(sql)

  const concerning = (table: KeyedTable, { organizationId, npis, emails, recipients }: Subject) => {
    const { by } = PERSONAL_DATA[table]
    const values = by === "npi" ? npis : recipients.map(({ id, token }) => (by === "token" ? token : id))
    const isTheirs =
      by === "value"
        ? sql`((kind = 'npi' and value = any (${npis}::text[])) or (kind = 'email' and value = any (${emails}::text[])))`
        : sql`${sql(by)} = any (${values}::text[])`
    return sql`organization_id = ${organizationId} and ${isTheirs}`
  }

  /** Finds the events of a recipient by index: the index of recipient events, or the timestamp in the recipient's row. */
  const events = (subject: Subject) => {
    const conditions = [
      sql`recipient_id = recipient.id and ${sql.literal(IN_EVENTS_OF_RECIPIENT)}`,
      ...Struct.keys(STAMPED_EVENTS).map((type) => {
        const isAbout =
          EVENT_TYPES[type].recipients === "one" ? "recipient_id = recipient.id" : "strpos(body, recipient.id) > 0"
        return sql`type = ${type} and emitted_at = ${sql(STAMPED_EVENTS[type])} and ${sql.literal(isAbout)}`
      }),
    ]
    const found = conditions.map(
      (condition) => sql`
        select id, emitted_at from events where organization_id = ${subject.organizationId} and ${condition}`,
    )
    return sql`
      with recipient as materialized (
        select id, published_at, sent_at from recipients where ${concerning("recipients", subject)}
      )
      select distinct ${eventKeys.columnsOf("event")} from recipient cross join lateral (
        ${sql.join(" union all ", false)(found)}
      ) event
      order by event.id`.pipe(eventKeys.decode)
  }
  const eventIdsOf = (subject: Subject) => Effect.map(events(subject), (keys) => keys.map(({ id }) => id))

  /** Returns the ids of rows with a text that contains the subject. A null text means a known match. */
  const search = (subject: Subject, rows: Statement.Statement<object>) => {
    const matches = createMatcher(subject)
    return unlimited(decodeTexts(rows)).pipe(
      Effect.map((found) => found.flatMap(({ id, text }) => (text === null || matches(text) ? [id] : []))),
    )
  }

  const searchInbox = (subject: Subject, condition: Statement.Fragment) =>
    search(
      subject,
      sql`
        select event_id as id, case when npi = any (${subject.npis}::text[]) then null else body end as text from inbox
        where organization_id = ${subject.organizationId} and ${condition}
          and (npi = any (${subject.npis}::text[]) or lower(body) like any (${likePatterns(subject)}::text[]))
        order by event_id`,
    )

  const searchAttempts = Effect.fnUntraced(function* (subject: Subject) {
    const eventIds = yield* eventIdsOf(subject)
    const rows = sql`
      select delivery_id as id, case when event_id = any (${eventIds}::text[]) then null else response end as text
      from delivery_attempts attempt
      left join deliveries delivery on delivery.organization_id = attempt.organization_id and delivery.id = delivery_id
      where attempt.organization_id = ${subject.organizationId} and response is not null`
    return yield* search(subject, rows)
  })

  /** Dead letters of the events, and dead letters with a text that may contain the subject. */
  const deadLetterCandidates = (subject: Subject, eventIds: ReadonlyArray<EventId>) =>
    sql`
      select ${deadLetters.columns} from dead_letters
      where organization_id = ${subject.organizationId} and (event_id = any (${eventIds}::text[])
        or lower(attempts::text) like any (${likePatterns(subject)}::text[]))
      order by id`.pipe(deadLetters.decode, unlimited)

  /** Rows that may contain a delivery of the events, and rows with a text that may contain the subject. */
  const deliveredCandidates = (subject: Subject, eventIds: ReadonlyArray<EventId>) => {
    // A delivery id starts with the time of its event, and a batch row covers a range of ids.
    const prefixes = [...new Set(eventIds.map((id) => `dlv_${id.slice(4, 16)}7`))]
    return sql`
      select ${delivered.columns} from delivered
      where organization_id = ${subject.organizationId} and (event_id = any (${eventIds}::text[])
        or (first_id is not null and exists (
          select from unnest(${prefixes}::text[]) as prefix
          where prefix collate "C" between left(first_id, 17) and left(delivered.id, 17)))
        or lower(coalesce(attempts::text, deliveries::text)) like any (${likePatterns(subject)}::text[]))
      order by id`.pipe(delivered.decode, unlimited)
  }

  /** Returns the candidates with partners' responses to the subject's events or responses that contain the subject, after removing these responses. */
  const withoutResponses =
    <Row extends Delivered>(
      candidates: (
        subject: Subject,
        eventIds: ReadonlyArray<EventId>,
      ) => Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>,
    ) =>
    (subject: Subject) =>
      Effect.gen(function* () {
        const eventIds = yield* eventIdsOf(subject)
        const own = new Set<EventId | null>(eventIds)
        const matches = createMatcher(subject)
        const rows = yield* candidates(subject, eventIds)
        return rows.flatMap((row) => cutResponses(row, (event, response) => own.has(event) || matches(response)))
      })

  const searches = {
    events,
    inbox: (subject: Subject) => searchInbox(subject, sql`true`),
    delivery_attempts: searchAttempts,
    dead_letters: withoutResponses(deadLetterCandidates),
    delivered: withoutResponses(deliveredCandidates),
  } satisfies Readonly<
    Record<SearchedTable, (subject: Subject) => Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>>
  >

  return {
    findSubject: createSubjectFinder(sql),
    concerning,
    searches,
    deadLetterCandidates,
    deliveredCandidates,
    count: (subject: Subject, table: PersonalTable): Effect.Effect<number, SqlError.SqlError> => {
      const search: (subject: Subject) => Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError> = isKeyed(table)
        ? () => sql`select from ${sql(table)} where ${concerning(table, subject)}`
        : searches[table]
      return Effect.map(search(subject), ({ length }) => length)
    },
    /** Counts the partner's events that contain the subject and aren't applied yet. */
    countWaiting: (subject: Subject) =>
      Effect.map(searchInbox(subject, sql`applied_at is null and quarantined_at is null`), ({ length }) => length),
  }
}

export type PersonalDataFinder = ReturnType<typeof createPersonalDataFinder>

/** Removes responses from a row; returns an empty list if there are none to remove. */
const cutResponses = <Row extends Delivered>(
  row: Row,
  isMeant: (event: EventId | null, response: string) => boolean,
): ReadonlyArray<Row> => {
  let isChanged = false
  const cut = (event: EventId | null, attempt: Attempt): Attempt => {
    if (!attempt.response || !isMeant(event, attempt.response)) return attempt
    isChanged = true
    return { ...attempt, response: null }
  }
  const attempts = row.attempts?.map((attempt) => cut(row.eventId, attempt)) ?? null
  const deliveries = row.deliveries?.map((each) => ({ ...each, attempt: cut(each.eventId, each.attempt) })) ?? null
  return isChanged ? [{ ...row, attempts, deliveries }] : []
}
