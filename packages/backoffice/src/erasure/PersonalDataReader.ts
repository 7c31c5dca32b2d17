import { createMatcher, eventPartOf, type Subject } from "@outreach/domain/erasure/Erasure"
import { isKeyed, PERSONAL_TABLES, type PersonalTable } from "@outreach/domain/erasure/PersonalData"
import type { EventId, OrganizationId } from "@outreach/domain/Identifier"
import type { Clinician } from "@outreach/domain/recipients/Clinician"
import { Recipient } from "@outreach/domain/recipients/Recipient"
import { reader } from "@outreach/postgres/adapter"
import { createPersonalDataFinder, type Delivered, type EventKey } from "@outreach/postgres/erasure/PersonalDataFinder"
import { decodeColumn, decodeRows, decodeValue, toTable } from "@outreach/postgres/rowsOf"
import { Array as Arr, Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import { consistentRead } from "../consistentRead.ts"
import { createExtractor, tokenWords } from "./createExtractor.ts"

/** Number of event bodies that one statement reads: each may have 2,000 recipients. */
const BODIES_BATCH_SIZE = 20

const { id, token } = Recipient.fields
const row = Schema.Record(Schema.String, Schema.Json)
const decodeRecipients = decodeRows({ id, token })
const decodeTokens = decodeColumn({ token })
const decodeJson = decodeColumn({ row })
const decodeTexts = decodeRows({ row, npi: Schema.NullOr(Schema.String), text: Schema.NullOr(Schema.String) })
const decodeClock = decodeValue({ now: Schema.String })

/** The data on a clinician as JSON. Rows have their columns' names, without the organization. */
export type PersonalData = {
  readonly organization_id: OrganizationId
  readonly exported_at: string
  readonly clinician: Pick<Subject, "npis" | "emails">
} & Readonly<Record<PersonalTable | "deliveries", ReadonlyArray<object>>>

/** Reads all data on a clinician, and removes data on other people from texts (`createExtractor`). */
export const PersonalDataReader = reader("PersonalDataReader", function* (sql) {
  const finder = createPersonalDataFinder(sql)

  /** Of several recipients with one address, only those with the clinician's NPI belong to the clinician. */
  const ownSubject = Effect.fnUntraced(function* (organizationId: OrganizationId, clinician: Clinician) {
    const subject = yield* finder.findSubject(organizationId, clinician)
    const recipients = yield* sql`
        select id, token from recipients
        where ${finder.concerning("recipients", subject)} and npi = any (${subject.npis}::text[]) order by id`.pipe(
      decodeRecipients,
    )
    return { ...subject, recipients } satisfies Subject
  })

  const readEvents = Effect.fnUntraced(function* (subject: Subject, keys: ReadonlyArray<EventKey>) {
    const ids = new Set<string>(subject.recipients.map(({ id }) => id))
    const batches = yield* Effect.forEach(Arr.chunksOf(keys, BODIES_BATCH_SIZE), (batch) =>
      sql`
          select to_jsonb(event) - array['organization_id', 'body'] as row, null as npi, body as text
          from ${toTable("key", batch, { id: "text", emittedAt: "timestamptz" })}
          join events event
            on event.organization_id = ${subject.organizationId} and event.id = key.id and event.emitted_at = key.emitted_at
          order by event.id`.pipe(decodeTexts),
    )
    return batches.flat().map(({ row, text }) => ({ ...row, body: eventPartOf(text!, ids) }))
  })

  /** Creates the function that extracts the subject's data from texts, after finding out which words in them are tokens of other recipients. */
  const extractorFor = Effect.fnUntraced(function* (subject: Subject, texts: ReadonlyArray<string | null>) {
    const words = new Set(texts.flatMap((text) => (text === null ? [] : tokenWords(text))))
    for (const { token } of subject.recipients) words.delete(token)
    const found = yield* sql`
        select token from recipient_keys where organization_id = ${subject.organizationId} and token = any (${[...words]}::text[])`.pipe(
      decodeTokens,
    )
    const extract = createExtractor(subject, new Set(found))
    return (text: string | null) => (text === null ? null : extract(text))
  })

  const read = Effect.fnUntraced(function* (organizationId: OrganizationId, clinician: Clinician) {
    const subject = yield* ownSubject(organizationId, clinician)
    const { npis, emails }: Subject = subject
    const keys = yield* finder.searches.events(subject)
    const eventIds = keys.map(({ id }) => id)

    const rowsWhere = (table: string, condition: Statement.Fragment) =>
      sql`select to_jsonb(held) - 'organization_id' as row from ${sql(table)} held where ${condition}`.pipe(decodeJson)
    const keyed = yield* Effect.forEach(PERSONAL_TABLES.filter(isKeyed), (table) =>
      Effect.map(rowsWhere(table, finder.concerning(table, subject)), (rows) => [table, rows] as const),
    )
    const inbox = yield* sql`
        select to_jsonb(held) - array['organization_id', 'npi', 'body'] as row, npi, body as text from inbox held
        where organization_id = ${organizationId} and event_id = any (${yield* finder.searches.inbox(subject)}::text[])
        order by event_id`.pipe(decodeTexts)
    const attempts = yield* sql`
        select to_jsonb(attempt) - array['organization_id', 'response'] as row, null as npi, response as text from delivery_attempts attempt
        where organization_id = ${organizationId} and (
          delivery_id = any (${yield* finder.searches.delivery_attempts(subject)}::text[]) or delivery_id in (
            select id from deliveries where organization_id = ${organizationId} and event_id = any (${eventIds}::text[])))
        order by delivery_id, number, started_at`.pipe(decodeTexts)
    const deadLetters = ownDeliveries(subject, eventIds, yield* finder.deadLetterCandidates(subject, eventIds))
    const delivered = ownDeliveries(subject, eventIds, yield* finder.deliveredCandidates(subject, eventIds))

    const extract = yield* extractorFor(subject, [
      ...[...inbox, ...attempts].map(({ text }) => text),
      ...[...deadLetters, ...delivered].flatMap((row) => row.attempts.map(({ response }) => response)),
    ])
    const toRow = ({ attempts, ...row }: (typeof delivered)[number]) => ({
      ...row,
      attempts: attempts.map((attempt) => ({ ...attempt, response: extract(attempt.response) })),
    })
    const now = yield* sql`select to_jsonb(clock_timestamp()) as now`.pipe(decodeClock)
    return {
      organization_id: organizationId,
      exported_at: now,
      clinician: { npis, emails },
      ...(Object.fromEntries(keyed) as Record<(typeof keyed)[number][0], (typeof keyed)[number][1]>),
      events: yield* readEvents(subject, keys),
      inbox: inbox.map(({ row, npi, text }) => ({
        ...row,
        npi: npi !== null && npis.includes(npi) ? npi : null,
        body: extract(text),
      })),
      deliveries: yield* rowsWhere(
        "deliveries",
        sql`organization_id = ${organizationId} and event_id = any (${eventIds}::text[])`,
      ),
      delivery_attempts: attempts.map(({ row, text }) => ({ ...row, response: extract(text) })),
      dead_letters: deadLetters.map(toRow),
      delivered: delivered.map(toRow),
    } satisfies PersonalData
  })

  return {
    /** Reads the data on a clinician as of one moment, in a transaction without writes. */
    read: (organizationId: OrganizationId, clinician: Clinician) => consistentRead(read(organizationId, clinician)),
  }
})

/** Extracts the deliveries of the subject's events, and the attempts of other deliveries whose response names the subject. */
const ownDeliveries = (subject: Subject, eventIds: ReadonlyArray<EventId>, rows: ReadonlyArray<Delivered>) => {
  const matches = createMatcher(subject)
  const own = new Set(eventIds)
  return rows.flatMap(({ id, finishedAt, eventId, attempts, deliveries }) =>
    [
      ...(eventId === null ? [] : [{ id, eventId, attempts: attempts ?? [] }]),
      ...(deliveries ?? []).map(({ id, eventId, attempt }) => ({ id, eventId, attempts: [attempt] })),
    ].flatMap(({ id, eventId, attempts }) => {
      const isTheirs = own.has(eventId)
      const kept = attempts.filter(({ response }) => isTheirs || (response !== null && matches(response)))
      return isTheirs || kept.length > 0 ? [{ id, event_id: eventId, finished_at: finishedAt, attempts: kept }] : []
    }),
  )
}
