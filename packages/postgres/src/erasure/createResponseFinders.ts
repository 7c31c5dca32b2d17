import type { Attempt, DeadLetterReason } from "@outreach/domain/deliveries/Delivery"
import { createMatcher, likePatterns } from "@outreach/domain/erasure/createMatcher"
import { isNameless, type Subject } from "@outreach/domain/erasure/Erasure"
import type { DeliveryId, EndpointId, EventId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** An attempt, as far as it may concern a subject. */
export interface StoredAttempt {
  readonly response: string | null
}

/** A row with the attempts of one delivery, or of many deliveries. */
export interface ResponseRow {
  readonly id: DeliveryId
  readonly finishedAt: Timestamp
  readonly eventId: EventId | null
  readonly attempts: ReadonlyArray<StoredAttempt> | null
  readonly deliveries: ReadonlyArray<{
    readonly id: DeliveryId
    readonly eventId: EventId
    readonly attempt: StoredAttempt
  }> | null
}

/** A dead letter, and what its group of failures follows from. */
interface DeadLetterRow extends ResponseRow {
  readonly endpointId: EndpointId
  readonly reason: DeadLetterReason
  readonly attempts: ReadonlyArray<Attempt>
}

/**
 * Creates the functions that find partners' responses to deliveries that concern a subject. `eventIdsOf` finds the subject's events, and
 * `atLeisure` reads without a time limit.
 */
export const createResponseFinders = (
  sql: SqlClient.SqlClient,
  {
    eventIdsOf,
    atLeisure,
  }: {
    readonly eventIdsOf: (subject: Subject) => Effect.Effect<ReadonlyArray<EventId>, SqlError.SqlError>
    readonly atLeisure: <A, E, R>(read: Effect.Effect<A, E, R>) => Effect.Effect<A, E | SqlError.SqlError, R>
  },
) => {
  /** Takes partners' responses to deliveries of the subject's events out of rows, and all others that name the subject. Returns the rows that change. */
  const withoutResponses = Effect.fnUntraced(function* (subject: Subject) {
    const eventIds = new Set(yield* eventIdsOf(subject))
    const matches = createMatcher(subject)
    return <Row extends ResponseRow>(rows: ReadonlyArray<Row>): ReadonlyArray<Row> =>
      rows.flatMap((row) => {
        let found = false
        const isMeant = (event: EventId | null, attempt: StoredAttempt) =>
          attempt.response !== null && ((event !== null && eventIds.has(event)) || matches(attempt.response))
        const cut = (event: EventId | null, attempt: StoredAttempt): StoredAttempt => {
          if (!isMeant(event, attempt)) return attempt
          found = true
          return { ...attempt, response: null }
        }
        const attempts = row.attempts?.map((attempt) => cut(row.eventId, attempt)) ?? null
        const deliveries =
          row.deliveries?.map((each) => ({ ...each, attempt: cut(each.eventId, each.attempt) })) ?? null
        return found ? [{ ...row, attempts, deliveries }] : []
      })
  })

  /** Dead letters of the subject's events, and all others with a text that may name the subject. */
  const deadLetterCandidates = Effect.fnUntraced(function* (subject: Subject) {
    const eventIds = yield* eventIdsOf(subject)
    return yield* sql<DeadLetterRow>`
      select id, finished_at as "finishedAt", endpoint_id as "endpointId", event_id as "eventId", reason, attempts, null as deliveries
      from dead_letters
      where organization_id = ${subject.organizationId} and (event_id = any (${eventIds}::text[])
        or lower(attempts::text) like any (${likePatterns(subject)}::text[]))
      order by id`
  }, atLeisure)

  /** Rows that may hold a delivery of the subject's events, and all others with a text that may name the subject. */
  const deliveredCandidates = Effect.fnUntraced(function* (subject: Subject) {
    const eventIds = yield* eventIdsOf(subject)
    // The id of a delivery begins with the time of its event, and a row with many holds a range of ids.
    const prefixes = [...new Set(eventIds.map((id) => `dlv_${id.slice(4, 16)}7`))]
    return yield* sql<ResponseRow>`
      select id, finished_at as "finishedAt", event_id as "eventId", attempts, deliveries from delivered
      where organization_id = ${subject.organizationId} and (event_id = any (${eventIds}::text[])
        or (first_id is not null and exists (
          select from unnest(${prefixes}::text[]) as prefix
          where prefix collate "C" between left(first_id, 17) and left(delivered.id, 17)))
        or lower(coalesce(attempts::text, deliveries::text)) like any (${likePatterns(subject)}::text[]))
      order by id`
  }, atLeisure)

  const deadLetters = Effect.fnUntraced(function* (subject: Subject) {
    if (isNameless(subject)) return []
    return (yield* withoutResponses(subject))(yield* deadLetterCandidates(subject))
  })

  const delivered = Effect.fnUntraced(function* (subject: Subject) {
    if (isNameless(subject)) return []
    return (yield* withoutResponses(subject))(yield* deliveredCandidates(subject))
  })

  const attempts = Effect.fnUntraced(function* (subject: Subject) {
    if (isNameless(subject)) return []
    const eventIds = yield* eventIdsOf(subject)
    const matches = createMatcher(subject)
    const rows = yield* sql<{ id: DeliveryId; response: string; isOurs: boolean }>`
      select delivery_id as id, response, coalesce(event_id = any (${eventIds}::text[]), false) as "isOurs"
      from delivery_attempts attempt
      left join deliveries delivery on delivery.organization_id = attempt.organization_id and delivery.id = delivery_id
      where attempt.organization_id = ${subject.organizationId} and response is not null`
    return rows.filter(({ response, isOurs }) => isOurs || matches(response)).map(({ id }) => id)
  }, atLeisure)

  return { deadLetterCandidates, deadLetters, deliveredCandidates, delivered, attempts }
}
