import type { RecipientId } from "@outreach/domain/Identifier"
import type { Npi } from "@outreach/domain/recipients/Npi"
import { Candidate, type Recipient } from "@outreach/domain/recipients/Recipient"
import type { RecipientFields } from "@outreach/domain/recipients/RecipientFields"
import { type RecipientPosition, RecipientRepository } from "@outreach/domain/recipients/RecipientRepository"
import { timeZonesOf } from "@outreach/domain/recipients/timeZonesOf"
import { Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { countMessages, MESSAGE_STATE } from "../campaigns/campaignChanges.ts"
import { orDieAs } from "../DatabaseFailure.ts"
import { columnOf } from "../rowsOf.ts"
import { recipientColumns, recipientOf } from "./recipientRows.ts"

/** Keeps recipients in PostgreSQL. */
export const RecipientRepositoryPg = Layer.effect(
  RecipientRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const givenColumns = sql.literal(givenNames.map(columnOf).join(", "))

    return {
      find: (organizationId, token) =>
        sql`select ${recipientColumns} from recipients where organization_id = ${organizationId} and token = ${token}`.values.pipe(
          Effect.map((rows) => rows.map(recipientOf)[0]),
          orDieAs("RecipientRepository.find"),
        ),

      findAll: (organizationId, ids) =>
        sql`
          select ${recipientColumns} from recipients
          where organization_id = ${organizationId} and id = any (${ids}::text[])`.values.pipe(
          Effect.map((rows) => new Map(rows.map(recipientOf).map((recipient) => [recipient.id, recipient]))),
          orDieAs("RecipientRepository.findAll"),
        ),

      findIds: (organizationId, tokens) =>
        sql<{ token: string; id: RecipientId }>`
          select token, id from recipients where organization_id = ${organizationId} and token = any (${tokens}::text[])`.pipe(
          Effect.map((rows) => new Map(rows.map(({ token, id }) => [token, id]))),
          orDieAs("RecipientRepository.findIds"),
        ),

      findSameClinicians: ({ organizationId, campaignId }, clinicians) =>
        sql<Pick<Recipient, "npi" | "email">>`
          select npi, email from same_clinicians(${organizationId}, ${campaignId},
            ${clinicians.map(({ npi }) => npi)}::text[], ${clinicians.map(({ email }) => email.toLowerCase())}::text[])`.pipe(
          orDieAs("RecipientRepository.findSameClinicians"),
        ),

      add: Effect.fnUntraced(function* ({ organizationId, campaignId, programId }, candidates, at) {
        if (candidates.length === 0) return new Set<RecipientId>()
        const rows = yield* sql<{ id: RecipientId }>`
          with added as (
          insert into recipients (organization_id, campaign_id, program_id, created_at, updated_at, ${givenColumns})
          select ${organizationId}, ${campaignId}, ${programId}, ${at}::timestamptz, ${at}::timestamptz, candidate.*
          from unnest(${sql.csv(givenNames.map((name) => sql`${candidates.map((candidate) => candidate[name])}::text[]`))}) as candidate
          on conflict do nothing
          returning id
          ), counted as (
            insert into campaign_count_changes (organization_id, campaign_id, recipients)
            select ${organizationId}, ${campaignId}, count(*) from added having count(*) > 0
          )
          select id from added`
        return new Set(rows.map(({ id }) => id))
      }, orDieAs("RecipientRepository.add")),

      // One row for each NPI: a statement cannot write a row twice. What another transaction holds is not waited for, because the clock is locked.
      keepFields: Effect.fnUntraced(function* ({ organizationId, campaignId }, clinicians) {
        const given = [...new Map(clinicians.map((clinician) => [clinician.npi, clinician])).values()]
        if (given.length === 0) return new Set<Npi>()
        const rows = yield* sql<{ id: RecipientId; npi: Npi | null }>`
          with waiting as materialized (
            select recipient.id, recipient.npi, given.fields::jsonb, string_to_array(nullif(given.time_zones, ''), ' ') as time_zones
            from unnest(
              ${given.map(({ npi }) => npi)}::text[], ${given.map(({ fields }) => JSON.stringify(fields))}::text[],
              ${given.map(({ fields }) => (Result.getOrUndefined(timeZonesOf(fields)) ?? []).join(" "))}::text[]
            ) as given (npi, fields, time_zones)
            join recipients recipient
              on organization_id = ${organizationId} and campaign_id = ${campaignId} and recipient.npi = given.npi
            where sent_at is null and bounced_at is null and erased_at is null
          ), kept as (
            insert into recipient_fields as old (organization_id, recipient_id, fields, time_zones)
            select ${organizationId}, id, fields, time_zones from waiting
            on conflict (organization_id, recipient_id) do update set fields = excluded.fields, time_zones = excluded.time_zones
              where old.fields <> excluded.fields or old.time_zones is distinct from excluded.time_zones
            returning recipient_id
          ), unrendered as (
            select recipient_id from messages
            where organization_id = ${organizationId} and recipient_id in (select recipient_id from kept)
              and quarantined_at is not null and failure_class = 'template'
            for update skip locked
          ), put_back as (
            update messages message set quarantined_at = null, due_at = clock_timestamp(), failure_class = null, failure_code = null
            from unrendered
            where organization_id = ${organizationId} and message.recipient_id = unrendered.recipient_id
            returning ${MESSAGE_STATE}
          ), tallied as (${countMessages(`
              select 1 as sign, put_back.* from put_back
              union all
              select -1, organization_id, campaign_id, attempts, unknown_outcomes, now() from put_back`)})
          select recipient_id as id, null as npi from kept union all select id, npi from waiting`
        // Joined here, because for a campaign that has no statistics yet PostgreSQL compares each row with each.
        const kept = new Set(rows.flatMap(({ id, npi }) => (npi === null ? id : [])))
        return new Set(rows.flatMap(({ id, npi }) => (npi !== null && kept.has(id) ? npi : [])))
      }, orDieAs("RecipientRepository.keepFields")),

      findFields: (organizationId, ids) =>
        sql<{ id: RecipientId; fields: RecipientFields }>`
          select recipient_id as id, fields from recipient_fields
          where organization_id = ${organizationId} and recipient_id = any (${ids}::text[])`.pipe(
          Effect.map((rows) => new Map(rows.map(({ id, fields }) => [id, fields]))),
          orDieAs("RecipientRepository.findFields"),
        ),

      pageWaiting: (organizationId, campaignId, after, limit) =>
        sql<RecipientPosition & { token: string; fields: RecipientFields }>`
          select id, updated_at as "updatedAt", token, coalesce(fields, '{}') as fields
          from recipients recipient
          left join recipient_fields held on held.organization_id = recipient.organization_id and recipient_id = id
          where recipient.organization_id = ${organizationId} and campaign_id = ${campaignId}
            and sent_at is null and bounced_at is null and withdrawn_at is null
            and (updated_at, id) > (${after?.updatedAt ?? "-infinity"}::timestamptz, ${after?.id ?? ""})
          order by updated_at, id limit ${limit}`.pipe(orDieAs("RecipientRepository.pageWaiting")),

      markAccountCreated: Effect.fnUntraced(function* (organizationId, recipientIds, at) {
        if (recipientIds.length === 0) return
        yield* sql`
          update recipients set account_created_at = coalesce(account_created_at, ${at}::timestamptz),
            last_event_at = ${at}::timestamptz, updated_at = ${at}::timestamptz
          where organization_id = ${organizationId} and id = any (${recipientIds}::text[])`
      }, orDieAs("RecipientRepository.markAccountCreated")),

      // JSON written by PostgreSQL costs more than it saves: see recipientRows.ts.
      // Two statements rather than one with an "or": each is one range of recipients_by_update, so a deep page costs what the first costs.
      page: (organizationId, from, limit) =>
        ("after" in from
          ? sql`
              select ${recipientColumns} from recipients
              where organization_id = ${organizationId}
                and (updated_at, id) > (${from.after.updatedAt}::timestamptz, ${from.after.id})
              order by updated_at, id limit ${limit}`.values
          : sql`
              select ${recipientColumns} from recipients
              where organization_id = ${organizationId} and updated_at >= ${from.since}::timestamptz
              order by updated_at, id limit ${limit}`.values
        ).pipe(recipientsOf, orDieAs("RecipientRepository.page")),

      pageOfCampaign: (organizationId, campaignId, after, limit) =>
        (after
          ? sql`
              select ${recipientColumns} from recipients
              where organization_id = ${organizationId} and campaign_id = ${campaignId}
                and (updated_at, id) > (${after.updatedAt}::timestamptz, ${after.id})
              order by updated_at, id limit ${limit}`.values
          : sql`
              select ${recipientColumns} from recipients
              where organization_id = ${organizationId} and campaign_id = ${campaignId}
              order by updated_at, id limit ${limit}`.values
        ).pipe(recipientsOf, orDieAs("RecipientRepository.pageOfCampaign")),
    }
  }),
)

/** What an import gives of each recipient. */
const givenNames = Object.keys(Candidate.fields) as ReadonlyArray<keyof typeof Candidate.Type>

const recipientsOf = Effect.map((rows: ReadonlyArray<ReadonlyArray<unknown>>) => rows.map(recipientOf))
