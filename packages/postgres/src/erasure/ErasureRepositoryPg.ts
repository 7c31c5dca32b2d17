import { CLOSED, IMPORTABLE } from "@outreach/domain/campaigns/Campaign"
import {
  type ErasedRecipient,
  type ErasureCertificate,
  type ErasureState,
  eraseEventBody,
  type HeldTable,
  type Subject,
} from "@outreach/domain/erasure/Erasure"
import { type EndedCampaign, ErasureRepository } from "@outreach/domain/erasure/ErasureRepository"
import type { EventId, OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { eraseInboundBody } from "@outreach/domain/inbox/eraseInboundBody"
import { OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import type { Npi } from "@outreach/domain/recipients/Npi"
import { ErasedClinicianRepository } from "@outreach/domain/suppressions/ErasedClinicianRepository"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Array as Arr, Effect, Layer, Redacted } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"
import { SecretCipher } from "../deliveries/SecretCipher.ts"
import { HeldRows } from "./HeldRows.ts"

/** How many rows one transaction erases. */
const BATCH_SIZE = 200

/** How many recipients one statement reads. */
const READ_BATCH_SIZE = 5000

/** For how long what a partner answered to an erased event is not kept. */
const ERASED_EVENT_DAYS = 7

/** Finds and erases what is held on clinicians in PostgreSQL. */
export const ErasureRepositoryPg = Layer.effect(
  ErasureRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const cipher = yield* SecretCipher
    const erased = yield* ErasedClinicianRepository
    const held = yield* HeldRows

    const columns = sql.literal(`
      id as "erasureId", organization_id as "organizationId", encode(subject, 'hex') as subject,
      array(select encode(hash, 'hex') from unnest(hashes) as hash) as hashes, started_at as "startedAt",
      finished_at as "finishedAt", release, counts`)

    /** Erases the rows of a table one batch after another, each in a transaction. */
    const inBatches = <Row>(
      rows: ReadonlyArray<Row>,
      erase: (batch: ReadonlyArray<Row>) => Effect.Effect<unknown, SqlError.SqlError>,
    ) => Effect.forEach(Arr.chunksOf(rows, BATCH_SIZE), (batch) => sql.withTransaction(erase(batch)), { discard: true })

    const eraseEvents = Effect.fnUntraced(function* (state: ErasureState) {
      const { organizationId } = state
      const placeholders = new Map<string, ErasedRecipient>(state.placeholders.map((each) => [each.id, each]))
      const keys = yield* held.events(state)
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

    const eraseHits = Effect.fnUntraced(function* ({ organizationId, recipients }: Subject) {
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

    const eraseInbox = Effect.fnUntraced(function* (state: ErasureState) {
      const { organizationId } = state
      let count = 0
      yield* inBatches(
        yield* held.inbox(state),
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
    const lockResponses = ({ organizationId }: ErasureState) =>
      sql`select pg_advisory_xact_lock(hashtextextended('responses ' || ${organizationId}, 0))`

    /** Reads what is stored before it takes the lock, and with the lock what came meanwhile: requests wait for that alone. */
    const eraseStoredResponses = Effect.fnUntraced(function* (state: ErasureState) {
      const { organizationId } = state
      const totals = yield* sql<{ bytes: string }>`
        select bytes::text from stored_response_totals where organization_id = ${organizationId}`
      const before = yield* held.storedResponseKeys(state)
      const erase = Effect.gen(function* () {
        yield* lockResponses(state)
        const keys = [...new Set([...before, ...(yield* held.storedResponseKeys(state, totals[0]?.bytes))])]
        yield* sql`delete from stored_responses where organization_id = ${organizationId} and key = any (${keys}::text[])`
        return keys.length
      })
      return yield* sql.withTransaction(erase)
    })

    const eraseFormerResponses = Effect.fnUntraced(
      function* (state: ErasureState) {
        yield* lockResponses(state)
        const keys = (yield* held.formerResponses(state)).map(({ id }) => id)
        yield* sql`delete from idempotency_keys where organization_id = ${state.organizationId} and key = any (${keys}::text[])`
        return keys.length
      },
      (effect) => sql.withTransaction(effect),
    )

    const eraseDeadLetters = Effect.fnUntraced(function* (state: ErasureState) {
      const rows = yield* held.deadLetters(state)
      yield* inBatches(
        rows,
        (batch) => sql`
          update dead_letters dead set attempts = given.attempts::jsonb
          from unnest(
            ${batch.map(({ id }) => id)}::text[], ${batch.map(({ attempts }) => attempts!)}::text[]
          ) as given (id, attempts)
          where dead.organization_id = ${state.organizationId} and dead.id = given.id`,
      )
      return rows.length
    })

    const eraseAttempts = Effect.fnUntraced(function* (state: ErasureState) {
      const { organizationId } = state
      // Whoever writes what came of calls holds these rows: it is done, or it sees which events are erased.
      yield* sql`select from endpoint_readers where organization_id = ${organizationId} order by endpoint_id for update`
      const ids = yield* held.attempts(state)
      yield* inBatches(
        ids,
        (batch) => sql`
          update delivery_attempts set response = null
          where organization_id = ${organizationId} and delivery_id = any (${batch}::text[])`,
      )
      return ids.length
    })

    const eraseDelivered = Effect.fnUntraced(function* (state: ErasureState) {
      const rows = yield* held.delivered(state)
      yield* inBatches(
        rows,
        (batch) => sql`
          update delivered set attempts = nullif(given.attempts, '')::jsonb, deliveries = nullif(given.deliveries, '')::json
          from unnest(
            ${batch.map(({ id }) => id)}::text[], ${batch.map(({ finishedAt }) => finishedAt)}::timestamptz[],
            ${batch.map(({ attempts }) => attempts ?? "")}::text[], ${batch.map(({ deliveries }) => deliveries ?? "")}::text[]
          ) as given (id, at, attempts, deliveries)
          where delivered.organization_id = ${state.organizationId} and delivered.id = given.id and finished_at = given.at`,
      )
      return rows.length
    })

    const erasers: Partial<Record<HeldTable, (state: ErasureState) => Effect.Effect<number, SqlError.SqlError>>> = {
      events: eraseEvents,
      hits: eraseHits,
      inbox: eraseInbox,
      stored_responses: eraseStoredResponses,
      idempotency_keys: eraseFormerResponses,
      dead_letters: eraseDeadLetters,
      delivery_attempts: eraseAttempts,
      delivered: eraseDelivered,
    }

    const seal = (state: ErasureState) => cipher.encrypt(Redacted.make(JSON.stringify(state)), state.organizationId)
    const open = (stored: Uint8Array, organizationId: OrganizationId): ErasureState =>
      JSON.parse(Redacted.value(cipher.decrypt(stored, organizationId)))

    return {
      findSubject: Effect.fn("ErasureRepository.findSubject")(function* (organizationId, clinician) {
        const found = yield* sql`select from organizations where id = ${organizationId}`
        if (found.length === 0) return yield* new OrganizationNotFound({ organizationId })
        return yield* held.subjectOf(organizationId, clinician)
      }, orDieAs("ErasureRepository.findSubject")),

      // A placeholder sorts before every NPI, and an erased recipient after the others: two look-ups by an index tell of each campaign.
      findEnded: (months, after) =>
        sql<EndedCampaign>`
          select organization_id as "organizationId", id as "campaignId" from campaigns campaign
          where (organization_id, id) > (${after?.organizationId ?? ""}, ${after?.campaignId ?? ""})
            and (status = any (${CLOSED}::text[]) or (status = any (${IMPORTABLE}::text[])
              and window_end < clock_timestamp() - make_interval(months => ${months}::int)))
            and updated_at < clock_timestamp() - make_interval(months => ${months}::int)
            and ((
              select npi from recipients
              where organization_id = campaign.organization_id and campaign_id = campaign.id
              order by npi desc limit 1
            ) >= '1' or (
              select erased_at is null from recipients
              where organization_id = campaign.organization_id and campaign_id = campaign.id
              order by updated_at, id limit 1
            ))
          order by organization_id, id limit 1`.pipe(
          Effect.map((rows) => rows[0]),
          orDieAs("ErasureRepository.findEnded"),
        ),

      // Whom one event announced stand together, so that few transactions write its body.
      readUnerased: Effect.fnUntraced(function* ({ organizationId, campaignId }, after) {
        const rows = yield* sql<{
          ids: ReadonlyArray<RecipientId>
          updatedAt: Timestamp | null
          id: RecipientId | null
        }>`
          with page as materialized (
            select id, updated_at, published_at, erased_at from recipients
            where organization_id = ${organizationId} and campaign_id = ${campaignId}
              and (updated_at, id) > (${after?.updatedAt ?? "-infinity"}::timestamptz, ${after?.id ?? ""})
            order by updated_at, id limit ${READ_BATCH_SIZE}::int
          )
          select array(select id from page where erased_at is null order by published_at, id) as ids, last.updated_at as "updatedAt", last.id
          from (select) one left join (select updated_at, id from page order by updated_at desc, id desc limit 1) last on true`
        const { ids, updatedAt, id } = rows[0]!
        return { ids, next: updatedAt && id && { updatedAt, id } }
      }, orDieAs("ErasureRepository.readUnerased")),

      findRecipients: Effect.fnUntraced(function* (organizationId, ids) {
        const recipients = yield* sql<Subject["recipients"][number]>`
          select id, token from recipients
          where organization_id = ${organizationId} and id = any (${ids}::text[]) and erased_at is null and not exists (
            select from unsubscriptions
            where organization_id = recipients.organization_id and recipient_id = recipients.id and suppressed_at is null)
          order by id`
        return { organizationId, npis: [], emails: [], recipients }
      }, orDieAs("ErasureRepository.findRecipients")),

      forgetEvents: sql`
        delete from erased_events where erased_at < clock_timestamp() - make_interval(days => ${ERASED_EVENT_DAYS}::int)`.pipe(
        Effect.asVoid,
        orDieAs("ErasureRepository.forgetEvents"),
      ),

      count: (subject, table) =>
        held.find(subject, table).pipe(
          Effect.map(({ length }) => length),
          orDieAs("ErasureRepository.count"),
        ),

      countWaiting: (subject) => held.countWaiting(subject).pipe(orDieAs("ErasureRepository.countWaiting")),

      reservePlaceholders: Effect.fnUntraced(function* (organizationId, count) {
        // Also makes the key, so that the organization has its row.
        yield* erased.add(organizationId, [])
        const rows = yield* sql<{ first: number }>`
          update erasure_keys set placeholders = placeholders + ${count}::int where organization_id = ${organizationId}
          returning (placeholders - ${count}::int)::double precision as first`
        return rows[0]!.first
      }, orDieAs("ErasureRepository.reservePlaceholders")),

      eraseAtOnce: Effect.fnUntraced(function* (subject, placeholders, at) {
        const { organizationId, npis, emails } = subject
        const ids = placeholders.map(({ id }) => id)
        yield* sql`
          update recipients recipient set token = given.token, npi = given.npi, email = given.email,
            erased_at = ${at}::timestamptz, updated_at = ${at}::timestamptz,
            withdrawn_at = case when sent_at is null and bounced_at is null then coalesce(withdrawn_at, ${at}::timestamptz)
              else withdrawn_at end,
            withdrawal_reason = case when sent_at is null and bounced_at is null then coalesce(withdrawal_reason, 'suppressed')
              else withdrawal_reason end
          from unnest(
            ${ids}::text[], ${placeholders.map(({ token }) => token)}::text[], ${placeholders.map(({ npi }) => npi)}::text[],
            ${placeholders.map(({ email }) => email)}::text[]
          ) as given (id, token, npi, email)
          where recipient.organization_id = ${organizationId} and recipient.id = given.id`
        const messages = yield* sql`
          delete from messages where organization_id = ${organizationId} and recipient_id = any (${ids}::text[]) returning 1`
        const unsubscriptions = yield* sql`
          delete from unsubscriptions where organization_id = ${organizationId} and recipient_id = any (${ids}::text[])
          returning 1`
        const done = { recipients: ids.length, messages: messages.length, unsubscriptions: unsubscriptions.length }
        // A worker erases records alone, and has no right to delete suppressions.
        if (npis.length === 0 && emails.length === 0) return done
        const suppressions = yield* sql`
          delete from suppressions where organization_id = ${organizationId}
            and ((kind = 'npi' and value = any (${npis}::text[])) or (kind = 'email' and value = any (${emails}::text[])))
          returning 1`
        const pseudonyms = (yield* erased.find(
          organizationId,
          npis.map((npi) => ({ npi: npi as Npi, email: null })),
        )).npis
        // A process that knows of no erasures may have counted the clinician once more: that row stays counted as well.
        const qualifications = yield* sql`
          update qualifications counted set npi = given.pseudonym || case when exists (
            select from qualifications earlier
            where earlier.organization_id = counted.organization_id and earlier.program_id = counted.program_id
              and earlier.stage = counted.stage and earlier.npi = given.pseudonym
          ) then ' ' || event_id else '' end
          from unnest(${[...pseudonyms.keys()]}::text[], ${[...pseudonyms.values()]}::text[]) as given (npi, pseudonym)
          where counted.organization_id = ${organizationId} and counted.npi = given.npi returning 1`
        return { ...done, suppressions: suppressions.length, qualifications: qualifications.length }
      }, orDieAs("ErasureRepository.eraseAtOnce")),

      erase: (state, table) => (erasers[table]?.(state) ?? Effect.succeed(0)).pipe(orDieAs("ErasureRepository.erase")),

      begin: ({ erasureId, organizationId, subject, hashes, release, counts }, state) =>
        sql`
          insert into erasures (organization_id, id, subject, hashes, release, counts, state)
          values (${organizationId}, ${erasureId}, decode(${subject}, 'hex'),
            array(select decode(hash, 'hex') from unnest(${hashes}::text[]) as hash), ${release}, ${JSON.stringify(counts)}::jsonb,
            ${seal(state)})`.pipe(Effect.asVoid, orDieAs("ErasureRepository.begin")),

      progress: ({ organizationId, erasureId }, table, count) =>
        sql`
          update erasures set counts = counts || ${JSON.stringify({ [table]: count })}::jsonb
          where organization_id = ${organizationId} and id = ${erasureId}`.pipe(
          Effect.asVoid,
          orDieAs("ErasureRepository.progress"),
        ),

      finish: ({ organizationId, erasureId }) =>
        sql<ErasureCertificate>`
          update erasures set state = null, finished_at = coalesce(finished_at, clock_timestamp())
          where organization_id = ${organizationId} and id = ${erasureId} returning ${columns}`.pipe(
          Effect.map((rows) => rows[0]!),
          orDieAs("ErasureRepository.finish"),
        ),

      findErasure: Effect.fnUntraced(function* (organizationId, subject) {
        const rows = yield* sql<ErasureCertificate & { stored: Uint8Array | null }>`
          select ${columns}, state as stored from erasures
          where organization_id = ${organizationId} and decode(${subject}, 'hex') = any (hashes)
          order by finished_at desc nulls first, id desc limit 1`
        if (rows[0] === undefined) return undefined
        const { stored, ...certificate } = rows[0]
        return { certificate, state: stored && open(stored, organizationId) }
      }, orDieAs("ErasureRepository.findErasure")),

      list: (organizationId) =>
        sql<ErasureCertificate>`
          select ${columns} from erasures where organization_id = ${organizationId} order by id`.pipe(
          orDieAs("ErasureRepository.list"),
        ),
    }
  }),
).pipe(Layer.provide(HeldRows.layer))

interface EventRow {
  readonly id: EventId
  readonly emittedAt: Timestamp
  readonly recipientId: RecipientId | null
  readonly body: string
}
