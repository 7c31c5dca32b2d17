import { CampaignKey, CLOSED, IMPORTABLE } from "@outreach/domain/campaigns/Campaign"
import {
  ErasureCertificate,
  ErasureNotFound,
  ErasureRepository,
  ErasureState,
  isNameless,
} from "@outreach/domain/erasure/Erasure"
import { isKeyed, PERSONAL_DATA, PERSONAL_TABLES, type PersonalDataCounts } from "@outreach/domain/erasure/PersonalData"
import { type OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import type { Npi } from "@outreach/domain/recipients/Clinician"
import { Recipient } from "@outreach/domain/recipients/Recipient"
import { ErasedClinicianRepository } from "@outreach/domain/suppressions/ErasedClinicians"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Array as Arr, Effect, Order, Redacted, Schema, Struct } from "effect"
import { adapter } from "../adapter.ts"
import { countRecipients, deleteMessages, RECIPIENT_STATE } from "../campaigns/campaignChanges.ts"
import { SecretCipher } from "../deliveries/SecretCipher.ts"
import { decodeRows, decodeValue, first, firstOr, keyset, only, rowsOf, toTable } from "../rowsOf.ts"
import { createErasers } from "./createErasers.ts"
import { createPersonalDataFinder } from "./PersonalDataFinder.ts"

const READ_BATCH_SIZE = 5000

/** The number of days during which partners' responses to an erased event aren't stored. */
const ERASED_EVENT_DAYS = 7

const { columns, decode } = rowsOf(ErasureCertificate, {
  erasureId: "id",
  subject: "encode(subject, 'hex')",
  hashes: "array(select encode(hash, 'hex') from unnest(hashes) as hash)",
})
const decodeErasures = decodeRows({ ...ErasureCertificate.fields, stored: Schema.NullOr(Schema.Uint8Array) })
const ended = rowsOf(CampaignKey, { campaignId: "id" })
const pages = rowsOf(
  Schema.Struct({
    ...Struct.pick(Recipient.fields, ["id", "updatedAt"]),
    publishedAt: Schema.NullOr(Timestamp),
    isErased: Schema.Boolean,
  }),
  { isErased: "erased_at is not null" },
)
const byUpdate = keyset({ updatedAt: "updated_at", id: "id" }, "asc")
const decodeRecipients = decodeRows({ id: RecipientId, token: Recipient.fields.token })
const decodeNumber = decodeValue({ first: Schema.Finite })
const stateJson = Schema.fromJsonString(ErasureState)

export const ErasureRepositoryPg = adapter(ErasureRepository, function* (sql) {
  const cipher = yield* SecretCipher
  const erased = yield* ErasedClinicianRepository
  const finder = createPersonalDataFinder(sql)
  const erasers = createErasers(sql, finder)

  const seal = (state: ErasureState) =>
    cipher.encrypt(Redacted.make(Schema.encodeSync(stateJson)(state)), state.organizationId)
  const open = (stored: Uint8Array, organizationId: OrganizationId): ErasureState =>
    Schema.decodeSync(stateJson)(Redacted.value(cipher.decrypt(stored, organizationId)))

  return {
    findSubject: finder.findSubject,

    // A placeholder sorts before every NPI, and an erased recipient after all other recipients, so each campaign costs two index look-ups.
    findEnded: (months, after) =>
      sql`
          select ${ended.columns} from campaigns campaign
          where (organization_id, id) > (${after?.organizationId ?? ""}, ${after?.campaignId ?? ""})
            and (status = any (${CLOSED}::text[]) or (status = any (${IMPORTABLE}::text[])
              and window_end < plausible_now() - make_interval(months => ${months}::int)))
            and updated_at < plausible_now() - make_interval(months => ${months}::int) and not is_doubtful(updated_at)
            and ((
              select npi from recipient_keys
              where organization_id = campaign.organization_id and campaign_id = campaign.id
              order by npi desc limit 1
            ) >= '1' or (
              select erased_at is null from recipients
              where organization_id = campaign.organization_id and campaign_id = campaign.id
              order by updated_at, id limit 1
            ))
          order by organization_id, id limit 1`.pipe(ended.decode, first),

    // Sorted so that recipients of the same event are in the same batch, and few transactions rewrite its body.
    readUnerased: Effect.fnUntraced(function* ({ organizationId, campaignId }, after) {
      const rows = yield* sql`
          select ${pages.columns} from recipients
          where organization_id = ${organizationId} and campaign_id = ${campaignId} and ${byUpdate.after(after)}
          order by ${byUpdate.order} limit ${READ_BATCH_SIZE}::int`.pipe(pages.decode)
      const unerased = rows.filter(({ isErased }) => !isErased)
      const sorted = Arr.sortWith(unerased, ({ publishedAt }) => publishedAt ?? "", Order.String)
      return { ids: sorted.map(({ id }) => id), next: rows.length < READ_BATCH_SIZE ? null : rows.at(-1)! }
    }),

    findRecipients: Effect.fnUntraced(function* (organizationId, ids) {
      const recipients = yield* sql`
          select id, token from recipients
          where organization_id = ${organizationId} and id = any (${ids}::text[]) and erased_at is null and not exists (
            select from unsubscriptions
            where organization_id = recipients.organization_id and recipient_id = recipients.id and suppressed_at is null)
          order by id`.pipe(decodeRecipients)
      return { organizationId, npis: [], emails: [], recipients }
    }),

    eraseResponses: (organizationId) => {
      const remove = sql`delete from stored_responses where organization_id = ${organizationId}`
      // Requests with a key share this lock while they run. When it is acquired, all responses with data from before the erasure are stored.
      // Most are deleted before that, so that the lock is short: new requests wait for it.
      const lock = sql`select pg_advisory_xact_lock(hashtextextended('responses ' || ${organizationId}, 0))`
      return Effect.andThen(remove, sql.withTransaction(Effect.andThen(lock, remove)))
    },

    forgetEvents: sql`
        delete from erased_events where erased_at < plausible_now() - make_interval(days => ${ERASED_EVENT_DAYS}::int)`,

    count: finder.count,
    countWaiting: finder.countWaiting,

    reservePlaceholders: Effect.fnUntraced(function* (organizationId, count) {
      // Also creates the hash key and so the organization's row.
      yield* erased.add(organizationId, [])
      return yield* sql`
          update erasure_keys set placeholders = placeholders + ${count}::int where organization_id = ${organizationId}
          returning (placeholders - ${count}::int)::double precision as first`.pipe(decodeNumber)
    }),

    eraseReplies: ({ organizationId, recipients }) =>
      sql`
          update campaign_domains kept set last_reply = null
          from (
            select distinct campaign_id, lower(split_part(email, '@', -1)) as domain from recipients
            where organization_id = ${organizationId} and id = any (${recipients.map(({ id }) => id)}::text[]) order by 1, 2
          ) erased
          where kept.organization_id = ${organizationId} and kept.campaign_id = erased.campaign_id and kept.domain = erased.domain
            and last_reply is not null`,

    eraseAtOnce: Effect.fnUntraced(function* (subject, placeholders, at) {
      const { organizationId, npis } = subject
      yield* sql`
          with given as materialized (
            select given.*, recipients.token as token_before
            from ${toTable("given", placeholders, { id: "text", token: "text", npi: "text", email: "text" })}
            join recipients on recipients.organization_id = ${organizationId} and recipients.id = given.id
          ), keys as (
            update recipient_keys key set token = given.token, npi = given.npi, email = given.email
            from given where key.organization_id = ${organizationId} and key.token = token_before
          ), changed as (
          update recipients recipient set token = given.token, npi = given.npi, email = given.email,
            erased_at = ${at}::timestamptz, updated_at = ${at}::timestamptz,
            withdrawn_at = case when sent_at is null and bounced_at is null then coalesce(withdrawn_at, ${at}::timestamptz)
              else withdrawn_at end,
            withdrawal_reason = case when sent_at is null and bounced_at is null then coalesce(withdrawal_reason, 'suppressed')
              else withdrawal_reason end
          from given where recipient.organization_id = ${organizationId} and recipient.id = given.id
          returning ${RECIPIENT_STATE}
          ) ${countRecipients("changed")}`
      const done: PersonalDataCounts = { recipients: placeholders.length, recipient_keys: placeholders.length }
      // A worker only erases records and may not delete suppressions.
      const ofPerson = isNameless(subject) ? [] : ["value"]
      for (const table of PERSONAL_TABLES.filter(isKeyed)) {
        const { by, ...columns } = PERSONAL_DATA[table]
        if (!("deleted" in columns) || ![...ofPerson, "recipient_id"].includes(by)) continue
        const isTheirs = finder.concerning(table, subject)
        const rows = yield* table === "messages"
          ? deleteMessages(sql, isTheirs)
          : sql`delete from ${sql(table)} where ${isTheirs} returning 1`
        done[table] = rows.length
      }
      if (isNameless(subject)) return done
      const pseudonyms = (yield* erased.find(
        organizationId,
        npis.map((npi) => ({ npi: npi as Npi, email: null })),
      )).npis
      // A process that hasn't seen the erasure may have counted the clinician a second time. Both rows are kept.
      const qualifications = yield* sql`
          update qualifications counted set npi = given.pseudonym || case when exists (
            select from qualifications earlier
            where earlier.organization_id = counted.organization_id and earlier.program_id = counted.program_id
              and earlier.stage = counted.stage and earlier.npi = given.pseudonym
          ) then ' ' || event_id else '' end
          from unnest(${[...pseudonyms.keys()]}::text[], ${[...pseudonyms.values()]}::text[]) as given (npi, pseudonym)
          where counted.organization_id = ${organizationId} and counted.npi = given.npi returning 1`
      return { ...done, qualifications: qualifications.length }
    }),

    erase: (subject, table) => erasers[table](subject),

    begin: ({ erasureId, organizationId, operator, commands, subject, hashes, release, counts }, state) =>
      sql`
          insert into erasures (organization_id, id, operator, commands, subject, hashes, release, counts, state)
          values (${organizationId}, ${erasureId}, ${operator}, ${commands}::text[], decode(${subject}, 'hex'),
            array(select decode(hash, 'hex') from unnest(${hashes}::text[]) as hash), ${release}, ${JSON.stringify(counts)}::jsonb,
            ${seal(state)})`,

    progress: ({ organizationId, erasureId }, table, count) =>
      sql`
          update erasures set counts = counts || ${JSON.stringify({ [table]: count })}::jsonb
          where organization_id = ${organizationId} and id = ${erasureId}`,

    finish: ({ organizationId, erasureId }, command) =>
      sql`
          update erasures set state = null, finished_at = coalesce(finished_at, clock_timestamp()),
            commands = array_remove(commands, ${command}) || array_remove(array[${command}::text], null)
          where organization_id = ${organizationId} and id = ${erasureId} returning ${columns}`.pipe(decode, only),

    find: (erasureId) =>
      sql`
          select ${columns} from erasures
          where organization_id in (select id from organizations) and id = ${erasureId}`.pipe(
        decode,
        firstOr(ErasureNotFound, { erasureId }),
      ),

    findErasure: Effect.fnUntraced(function* (organizationId, subject) {
      const found = yield* sql`
          select ${columns}, state as stored from erasures
          where organization_id = ${organizationId} and decode(${subject}, 'hex') = any (hashes)
          order by finished_at desc nulls first, id desc limit 1`.pipe(decodeErasures, first)
      if (found === undefined) return undefined
      const { stored, ...certificate } = found
      return { certificate, state: stored && open(stored, organizationId) }
    }),
  }
})
