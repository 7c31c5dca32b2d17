import { type CampaignKey, CLOSED, IMPORTABLE } from "@outreach/domain/campaigns/Campaign"
import { type ErasureCertificate, type ErasureState, isNameless, type Subject } from "@outreach/domain/erasure/Erasure"
import { ErasureRepository } from "@outreach/domain/erasure/ErasureRepository"
import type { OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import type { Npi } from "@outreach/domain/recipients/Npi"
import { ErasedClinicianRepository } from "@outreach/domain/suppressions/ErasedClinicianRepository"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { countMessages, countRecipients, MESSAGE_STATE, RECIPIENT_STATE } from "../campaigns/campaignChanges.ts"
import { orDieAs } from "../DatabaseFailure.ts"
import { SecretCipher } from "../deliveries/SecretCipher.ts"
import { createErasers } from "./createErasers.ts"
import { HeldRows } from "./HeldRows.ts"

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
    const erasers = yield* createErasers

    const columns = sql.literal(`
      id as "erasureId", organization_id as "organizationId", encode(subject, 'hex') as subject,
      array(select encode(hash, 'hex') from unnest(hashes) as hash) as hashes, started_at as "startedAt",
      finished_at as "finishedAt", release, counts`)

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
        sql<CampaignKey>`
          select organization_id as "organizationId", id as "campaignId" from campaigns campaign
          where (organization_id, id) > (${after?.organizationId ?? ""}, ${after?.campaignId ?? ""})
            and (status = any (${CLOSED}::text[]) or (status = any (${IMPORTABLE}::text[])
              and window_end < plausible_now() - make_interval(months => ${months}::int)))
            and updated_at < plausible_now() - make_interval(months => ${months}::int) and not is_doubtful(updated_at)
            and not exists (select from organizations where id = campaign.organization_id and frozen_at is not null)
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
        delete from erased_events where erased_at < plausible_now() - make_interval(days => ${ERASED_EVENT_DAYS}::int)`.pipe(
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
        // The last reply of a domain may be the one to this clinician.
        yield* sql`
          update campaign_domains kept set last_reply = null
          from (
            select distinct campaign_id, lower(split_part(email, '@', -1)) as domain from recipients
            where organization_id = ${organizationId} and id = any (${ids}::text[]) order by 1, 2
          ) erased
          where kept.organization_id = ${organizationId} and kept.campaign_id = erased.campaign_id and kept.domain = erased.domain
            and last_reply is not null`
        yield* sql`
          with changed as (
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
          where recipient.organization_id = ${organizationId} and recipient.id = given.id
          returning ${RECIPIENT_STATE}
          ) ${countRecipients("changed")}`
        const fields = yield* sql`
          delete from recipient_fields where organization_id = ${organizationId} and recipient_id = any (${ids}::text[])
          returning 1`
        const messages = yield* sql`
          with gone as (
            delete from messages message where organization_id = ${organizationId} and recipient_id = any (${ids}::text[])
            returning -1 as sign, ${MESSAGE_STATE}
          ), tallied as (${countMessages("select * from gone")})
          select from gone`
        const attempts = yield* sql`
          delete from message_attempts where organization_id = ${organizationId} and recipient_id = any (${ids}::text[])
          returning 1`
        const unsubscriptions = yield* sql`
          delete from unsubscriptions where organization_id = ${organizationId} and recipient_id = any (${ids}::text[])
          returning 1`
        const complaints = yield* sql`
          delete from complaints where (organization_id, campaign_id, recipient_id) in (
            select organization_id, campaign_id, id from recipients
            where organization_id = ${organizationId} and id = any (${ids}::text[]))
          returning 1`
        const done = {
          recipients: ids.length,
          recipient_fields: fields.length,
          messages: messages.length,
          message_attempts: attempts.length,
          unsubscriptions: unsubscriptions.length,
          complaints: complaints.length,
        }
        // A worker erases records alone, and has no right to delete suppressions.
        if (isNameless(subject)) return done
        const deleteFrom = (table: string) => sql`
          delete from ${sql(table)} where organization_id = ${organizationId}
            and ((kind = 'npi' and value = any (${npis}::text[])) or (kind = 'email' and value = any (${emails}::text[])))
          returning 1`
        const suppressions = yield* deleteFrom("suppressions")
        const ofOrganization = yield* deleteFrom("organization_suppressions")
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
        return {
          ...done,
          suppressions: suppressions.length,
          organization_suppressions: ofOrganization.length,
          qualifications: qualifications.length,
        }
      }, orDieAs("ErasureRepository.eraseAtOnce")),

      erase: (subject, table) =>
        (erasers[table]?.(subject) ?? Effect.succeed(0)).pipe(orDieAs("ErasureRepository.erase")),

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
