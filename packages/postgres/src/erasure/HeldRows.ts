import { EVENT_RECIPIENTS } from "@outreach/contract/names"
import { createMatcher, likePatterns } from "@outreach/domain/erasure/createMatcher"
import { type HeldTable, isNameless, SharedAddress, type Subject } from "@outreach/domain/erasure/Erasure"
import type { EventId, OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import type { Clinician } from "@outreach/domain/suppressions/Clinician"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { LIFT_TIME_LIMIT } from "@outreach/postgres-connection/sessionSettings"
import { Context, Effect, Layer, Struct } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { IN_EVENTS_OF_RECIPIENT, STAMPED_EVENTS } from "../events/recipientEvents.ts"
import { type StoredBody, unpackBody } from "../idempotency/StoredBody.ts"
import { createResponseFinders } from "./createResponseFinders.ts"

/** The key of an event. */
export interface EventKey {
  readonly id: EventId
  readonly emittedAt: Timestamp
}

/** Finds the rows of each table that concern a clinician. Texts that may name one are read whole, however long that takes. */
export class HeldRows extends Context.Service<HeldRows>()("postgres/erasure/HeldRows", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // Loaded here, because the help of the command line does not need the contract's schemas.
    const { canonicalEmail } = yield* Effect.promise(() => import("@outreach/domain/recipients/EmailAddress"))

    /** Reads without the usual time limit: a partner's whole inbox takes longer. */
    const atLeisure = <A, E, R>(read: Effect.Effect<A, E, R>) =>
      sql.withTransaction(Effect.andThen(sql.unsafe(LIFT_TIME_LIMIT), read))

    const recipientsBy = (organizationId: OrganizationId, npis: ReadonlyArray<string>, emails: ReadonlyArray<string>) =>
      sql<FoundRecipient>`
        select found.id, token, npi, lower(email) as email from campaigns campaign
        cross join lateral (
          select * from recipients
          where organization_id = campaign.organization_id and campaign_id = campaign.id and npi = any (${npis}::text[])
          union
          select * from recipients
          where organization_id = campaign.organization_id and campaign_id = campaign.id and lower(email) = any (${emails}::text[])
        ) found
        where campaign.organization_id = ${organizationId} and erased_at is null
        order by found.id`

    /** The addresses that the partner sent with an NPI. */
    const addressesOf = Effect.fnUntraced(function* (organizationId: OrganizationId, npis: ReadonlyArray<string>) {
      const rows = yield* sql<{ body: string }>`
        select body from inbox where organization_id = ${organizationId} and npi = any (${npis}::text[])`
      return rows.flatMap(({ body }) => {
        const email: unknown = JSON.parse(body).data?.email
        if (typeof email !== "string" || !email.includes("@")) return []
        // As it was written, too: texts may repeat that.
        return [(canonicalEmail(email) ?? email).toLowerCase(), email.toLowerCase()]
      })
    }, atLeisure)

    const subjectOf = Effect.fnUntraced(function* (organizationId: OrganizationId, clinician: Clinician) {
      const named = clinician.email === null ? [] : [clinician.email.toLowerCase()]
      const byAddress = yield* recipientsBy(organizationId, [], named)
      const npis = clinician.npi === null ? [...new Set(byAddress.map(({ npi }) => npi))] : [clinician.npi]
      if (npis.length > 1) return yield* new SharedAddress({ npis: npis.length })
      const own = yield* recipientsBy(organizationId, npis, [])
      const known = new Set([...own.map(({ email }) => email), ...(yield* addressesOf(organizationId, npis))])
      const others = (yield* recipientsBy(organizationId, [], [...known])).filter(({ npi }) => !npis.includes(npi))
      for (const { email } of others) known.delete(email)
      const recipients = new Map([...own, ...byAddress].map(({ id, token }) => [id, { id, token }]))
      return {
        organizationId,
        npis,
        emails: [...new Set([...named, ...known])],
        recipients: [...recipients.values()],
      } satisfies Subject
    })

    const idsOf = ({ recipients }: Subject) => recipients.map(({ id }) => id)

    /** Each event about a recipient is found by an index: by that of the recipient's events, or by the stamp of the recipient's row. */
    const events = (subject: Subject) => {
      const conditions = [
        sql`recipient_id = recipient.id and ${sql.literal(IN_EVENTS_OF_RECIPIENT)}`,
        ...Struct.keys(STAMPED_EVENTS).map((type) => {
          const isAbout =
            EVENT_RECIPIENTS[type] === "one" ? "recipient_id = recipient.id" : "strpos(body, recipient.id) > 0"
          return sql`type = ${type} and emitted_at = ${sql(STAMPED_EVENTS[type])} and ${sql.literal(isAbout)}`
        }),
      ]
      const found = conditions.map(
        (condition) => sql`
          select id, emitted_at from events where organization_id = ${subject.organizationId} and ${condition}`,
      )
      return sql<EventKey>`
        with recipient as materialized (
          select id, published_at, sent_at from recipients
          where organization_id = ${subject.organizationId} and id = any (${idsOf(subject)}::text[])
        )
        select distinct event.id, event.emitted_at as "emittedAt" from recipient cross join lateral (
          ${sql.join(" union all ", false)(found)}
        ) event
        order by event.id`
    }

    const inbox = Effect.fnUntraced(function* (subject: Subject) {
      if (isNameless(subject)) return []
      const matches = createMatcher(subject)
      const rows = yield* sql<{ id: string; body: string | null }>`
        select event_id as id, case when npi = any (${subject.npis}::text[]) then null else body end as body from inbox
        where organization_id = ${subject.organizationId}
          and (npi = any (${subject.npis}::text[]) or lower(body) like any (${likePatterns(subject)}::text[]))
        order by event_id`
      return rows.filter(({ body }) => body === null || matches(body)).map(({ id }) => id)
    }, atLeisure)

    /** Reads some at a time, in the order in which they were stored, and returns what `pick` takes: all together would not fit into memory. */
    const searchStored = Effect.fnUntraced(function* <A>(
      subject: Subject,
      from: string,
      pick: (text: StoredText) => A,
    ) {
      if (isNameless(subject)) return []
      const matches = createMatcher(subject)
      const found: Array<A> = []
      for (let next = from; ; ) {
        const rows = yield* sql<StoredBody & { readonly id: string; readonly next: string }>`
          select key as id, encoding, body, (bytes_before + 1)::text as next from stored_responses
          where organization_id = ${subject.organizationId} and bytes_before >= ${next}::bigint
          order by bytes_before limit ${BODIES_AT_ONCE}`
        for (const { id, encoding, body: stored } of rows) {
          const body = yield* unpackBody({ encoding, body: stored })
          if (body !== null && matches(body)) found.push(pick({ id, body }))
        }
        if (rows.length < BODIES_AT_ONCE) return found
        next = rows.at(-1)!.next
      }
    }, atLeisure)

    const storedResponses = (subject: Subject) => searchStored(subject, "0", (text) => text)
    const storedResponseKeys = (subject: Subject, from = "0") => searchStored(subject, from, ({ id }) => id)

    const responses = createResponseFinders(sql, {
      eventIdsOf: (subject) => Effect.map(events(subject), (keys) => keys.map(({ id }) => id)),
      atLeisure,
    })

    const suppressionsOf = ({ organizationId, npis, emails }: Subject, table: HeldTable) => sql`
      select from ${sql(table)} where organization_id = ${organizationId}
        and ((kind = 'npi' and value = any (${npis}::text[])) or (kind = 'email' and value = any (${emails}::text[])))`

    const finders = {
      recipients: (subject) => Effect.succeed(idsOf(subject)),
      recipient_fields: (subject) => sql`
        select from recipient_fields
        where organization_id = ${subject.organizationId} and recipient_id = any (${idsOf(subject)}::text[])`,
      messages: (subject) => sql`
        select from messages where organization_id = ${subject.organizationId} and recipient_id = any (${idsOf(subject)}::text[])`,
      message_attempts: (subject) => sql`
        select from message_attempts
        where organization_id = ${subject.organizationId} and recipient_id = any (${idsOf(subject)}::text[])`,
      unsubscriptions: (subject) => sql`
        select from unsubscriptions
        where organization_id = ${subject.organizationId} and recipient_id = any (${idsOf(subject)}::text[])`,
      complaints: (subject) => sql`
        select from complaints where (organization_id, campaign_id, recipient_id) in (
          select organization_id, campaign_id, id from recipients
          where organization_id = ${subject.organizationId} and id = any (${idsOf(subject)}::text[]))`,
      suppressions: (subject) => suppressionsOf(subject, "suppressions"),
      organization_suppressions: (subject) => suppressionsOf(subject, "organization_suppressions"),
      qualifications: (subject) => sql`
        select from qualifications where organization_id = ${subject.organizationId} and npi = any (${subject.npis}::text[])`,
      hits: (subject) => sql`
        select from hits where organization_id = ${subject.organizationId} and recipient_id = any (${idsOf(subject)}::text[])`,
      events,
      inbox,
      stored_responses: (subject) => storedResponseKeys(subject),
      dead_letters: responses.deadLetters,
      delivery_attempts: responses.attempts,
      delivered: responses.delivered,
    } satisfies Record<HeldTable, (subject: Subject) => Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>>

    return {
      subjectOf,
      events,
      inbox,
      storedResponses,
      storedResponseKeys,
      ...responses,
      /** Finds the rows of any table. */
      find: (subject: Subject, table: HeldTable): Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError> =>
        finders[table](subject),
      /** Counts the partner's events that name a subject and wait to be applied. */
      countWaiting: Effect.fnUntraced(function* (subject: Subject) {
        if (isNameless(subject)) return 0
        const rows = yield* sql<{ npi: string | null; body: string }>`
          select npi, body from inbox
          where organization_id = ${subject.organizationId} and applied_at is null and quarantined_at is null
            and (npi = any (${subject.npis}::text[]) or lower(body) like any (${likePatterns(subject)}::text[]))`
        const matches = createMatcher(subject)
        return rows.filter(({ npi, body }) => (npi !== null && subject.npis.includes(npi)) || matches(body)).length
      }, atLeisure),
    }
  }),
}) {
  static readonly layer = Layer.effect(HeldRows, HeldRows.make)
}

/** How many stored responses are read at once. */
const BODIES_AT_ONCE = 100

interface FoundRecipient {
  readonly id: RecipientId
  readonly token: string
  readonly npi: string
  readonly email: string
}

/** A row that holds a text. */
export interface StoredText {
  readonly id: string
  readonly body: string
}
