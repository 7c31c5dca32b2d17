import { createExtractor, tokenWords } from "@outreach/domain/erasure/createExtractor"
import { createMatcher } from "@outreach/domain/erasure/createMatcher"
import { eventPartOf, type HeldTable, type Subject } from "@outreach/domain/erasure/Erasure"
import type { EventId, OrganizationId } from "@outreach/domain/Identifier"
import { OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import type { Clinician } from "@outreach/domain/suppressions/Clinician"
import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import type { ResponseRow, StoredAttempt } from "@outreach/postgres/erasure/createResponseFinders"
import { type EventKey, HeldRows, type StoredText } from "@outreach/postgres/erasure/HeldRows"
import { Array as Arr, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** How many bodies of events one statement reads: each may hold 2,000 recipients. */
const BODIES_BATCH_SIZE = 20

/** Of stored responses: what is no data on anybody. */
const RESPONSE_COLUMNS_LEFT_OUT = ["organization_id", "fingerprint", "headers", "encoding", "body", "bytes_before"]

/** What is held on a clinician, ready for JSON. Rows have the names of their columns, without the organization. */
export type HeldData = {
  readonly organization_id: OrganizationId
  readonly exported_at: string
  readonly clinician: Pick<Subject, "npis" | "emails">
} & Readonly<Record<HeldTable | "deliveries", ReadonlyArray<object>>>

/** Reads everything that is held on a clinician. Texts are read without what they say of others: see `createExtractor`. */
export class HeldDataReader extends Context.Service<HeldDataReader>()("backoffice/erasure/HeldDataReader", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const held = yield* HeldRows

    /** Of recipients with an address that others have as well, only those with the clinician's NPI are the clinician's. */
    const ownSubject = Effect.fnUntraced(function* (organizationId: OrganizationId, clinician: Clinician) {
      const subject = yield* held.subjectOf(organizationId, clinician)
      const recipients = yield* sql<Subject["recipients"][number]>`
        select id, token from recipients
        where organization_id = ${organizationId} and id = any (${subject.recipients.map(({ id }) => id)}::text[])
          and npi = any (${subject.npis}::text[])
        order by id`
      return { ...subject, recipients } satisfies Subject
    })

    const readEvents = Effect.fnUntraced(function* (
      organizationId: OrganizationId,
      keys: ReadonlyArray<EventKey>,
      ids: ReadonlyArray<string>,
    ) {
      const batches = yield* Effect.forEach(Arr.chunksOf(keys, BODIES_BATCH_SIZE), (batch) =>
        Effect.map(
          sql<{ row: object; body: string }>`
            select to_jsonb(event) - array['organization_id', 'body'] as row, body
            from unnest(${batch.map(({ id }) => id)}::text[], ${batch.map(({ emittedAt }) => emittedAt)}::timestamptz[]) as key (id, at)
            join events event on event.organization_id = ${organizationId} and event.id = key.id and emitted_at = key.at
            order by event.id`,
          (rows) => rows.map(({ row, body }) => ({ ...row, body: eventPartOf(body, new Set(ids)) })),
        ),
      )
      return batches.flat()
    })

    /** Creates the function that extracts what texts say of the subject, once it is known which words in them are tokens of others. */
    const extractorFor = Effect.fnUntraced(function* (subject: Subject, texts: ReadonlyArray<string>) {
      const words = new Set(texts.flatMap(tokenWords))
      for (const { token } of subject.recipients) words.delete(token)
      const found = yield* sql<{ token: string }>`
        select token from recipients where organization_id = ${subject.organizationId} and token = any (${[...words]}::text[])`
      return createExtractor(subject, new Set(found.map(({ token }) => token)))
    })

    const read = Effect.fnUntraced(function* (organizationId: OrganizationId, clinician: Clinician) {
      const organizations = yield* sql`select from organizations where id = ${organizationId}`
      if (organizations.length === 0) return yield* new OrganizationNotFound({ organizationId })
      const subject = yield* ownSubject(organizationId, clinician)
      const { npis, emails } = subject
      const ids = subject.recipients.map(({ id }) => id)
      const keys = yield* held.events(subject)
      const eventIds = new Set<EventId>(keys.map(({ id }) => id))

      const rowsOf = (table: string, column: string, values: Iterable<string>) =>
        Effect.map(
          sql<{ row: object }>`
            select to_jsonb(held) - 'organization_id' as row from ${sql(table)} held
            where organization_id = ${organizationId} and ${sql(column)} = any (${[...values]}::text[])`,
          (rows) => rows.map(({ row }) => row),
        )
      const suppressionsIn = (table: string) =>
        Effect.map(
          sql<{ row: object }>`
            select to_jsonb(held) - 'organization_id' as row from ${sql(table)} held
            where organization_id = ${organizationId}
              and ((kind = 'npi' and value = any (${npis}::text[])) or (kind = 'email' and value = any (${emails}::text[])))`,
          (rows) => rows.map(({ row }) => row),
        )

      const inbox = yield* sql<{ row: object; npi: string | null; body: string }>`
        select to_jsonb(held) - array['organization_id', 'npi', 'body'] as row, npi, body from inbox held
        where organization_id = ${organizationId} and event_id = any (${yield* held.inbox(subject)}::text[])
        order by event_id`
      const responses = yield* held.storedResponses(subject)
      const attempts = yield* sql<{ row: object; response: string | null }>`
        select to_jsonb(attempt) - array['organization_id', 'response'] as row, response from delivery_attempts attempt
        where organization_id = ${organizationId} and (delivery_id = any (${yield* held.attempts(subject)}::text[]) or delivery_id in (
          select id from deliveries where organization_id = ${organizationId} and event_id = any (${[...eventIds]}::text[])))
        order by delivery_id, number, started_at`
      const deadLetters = ownDeliveries(subject, eventIds, yield* held.deadLetterCandidates(subject))
      const delivered = ownDeliveries(subject, eventIds, yield* held.deliveredCandidates(subject))

      const answers = [...deadLetters, ...delivered].flatMap((row) =>
        row.attempts.map(({ response }) => response ?? ""),
      )
      const texts = [...inbox, ...responses].map(({ body }) => body)
      const extract = yield* extractorFor(subject, [
        ...texts,
        ...answers,
        ...attempts.map(({ response }) => response ?? ""),
      ])
      const toRow = ({ id, event_id, finished_at, attempts }: OwnDelivery) => ({
        ...{ id, event_id, finished_at },
        attempts: attempts.map((attempt) => ({
          ...attempt,
          response: attempt.response === null ? null : extract(attempt.response),
        })),
      })
      const responseRows = Effect.fnUntraced(function* (texts: ReadonlyArray<StoredText>) {
        const bodies = new Map(texts.map(({ id, body }) => [id, body]))
        const rows = yield* sql<{ key: string; row: object }>`
          select key, to_jsonb(held) - ${RESPONSE_COLUMNS_LEFT_OUT}::text[] as row from stored_responses held
          where organization_id = ${organizationId} and key = any (${[...bodies.keys()]}::text[])`
        return rows.map(({ key, row }) => ({ ...row, body: extract(bodies.get(key)!) }))
      })
      const [clock] = yield* sql<{ now: string }>`select to_jsonb(clock_timestamp()) as now`
      return {
        organization_id: organizationId,
        exported_at: clock!.now,
        clinician: { npis, emails },
        recipients: yield* rowsOf("recipients", "id", ids),
        recipient_fields: yield* rowsOf("recipient_fields", "recipient_id", ids),
        messages: yield* rowsOf("messages", "recipient_id", ids),
        message_attempts: yield* rowsOf("message_attempts", "recipient_id", ids),
        unsubscriptions: yield* rowsOf("unsubscriptions", "recipient_id", ids),
        complaints: yield* rowsOf("complaints", "recipient_id", ids),
        suppressions: yield* suppressionsIn("suppressions"),
        organization_suppressions: yield* suppressionsIn("organization_suppressions"),
        qualifications: yield* rowsOf("qualifications", "npi", npis),
        events: yield* readEvents(organizationId, keys, ids),
        hits: yield* rowsOf("hits", "recipient_id", ids),
        inbox: inbox.map(({ row, npi, body }) => ({
          ...row,
          npi: npi !== null && npis.includes(npi) ? npi : null,
          body: extract(body),
        })),
        stored_responses: yield* responseRows(responses),
        deliveries: yield* rowsOf("deliveries", "event_id", eventIds),
        delivery_attempts: attempts.map(({ row, response }) => ({
          ...row,
          response: response === null ? null : extract(response),
        })),
        dead_letters: deadLetters.map(toRow),
        delivered: delivered.map(toRow),
      } satisfies HeldData
    })

    return {
      /** Reads what is held on a clinician, all of it as of one moment. */
      read: (organizationId: OrganizationId, clinician: Clinician) =>
        sql
          .withTransaction(
            Effect.andThen(
              sql`set transaction isolation level repeatable read, read only`,
              read(organizationId, clinician),
            ),
          )
          .pipe(orDieAs("HeldDataReader.read")),
    }
  }),
}) {
  static readonly layer = Layer.provide(Layer.effect(HeldDataReader, HeldDataReader.make), HeldRows.layer)
}

interface OwnDelivery {
  readonly id: string
  readonly event_id: string | null
  readonly finished_at: string
  readonly attempts: ReadonlyArray<StoredAttempt>
}

/** Takes the deliveries of the subject's events out of rows, and of others the attempts whose response names the subject. */
const ownDeliveries = (
  subject: Subject,
  eventIds: ReadonlySet<EventId>,
  rows: ReadonlyArray<ResponseRow>,
): ReadonlyArray<OwnDelivery> => {
  const matches = createMatcher(subject)
  return rows.flatMap(({ id, finishedAt, eventId, attempts, deliveries }) =>
    [
      ...(eventId === null ? [] : [{ id, eventId, attempts: attempts ?? [] }]),
      ...(deliveries ?? []).map((each) => ({ id: each.id, eventId: each.eventId, attempts: [each.attempt] })),
    ].flatMap((each) => {
      const isTheirs = eventIds.has(each.eventId)
      const own = each.attempts.filter(({ response }) => isTheirs || (response !== null && matches(response)))
      return isTheirs || own.length > 0
        ? [{ id: each.id, event_id: each.eventId, finished_at: finishedAt, attempts: own }]
        : []
    }),
  )
}
