import { type Campaign, IMPORTABLE } from "@outreach/domain/campaigns/Campaign"
import { CampaignNotFound, CampaignNotInStatus, QuotaReached } from "@outreach/domain/campaigns/CampaignErrors"
import { RecipientRepository, type Registration } from "@outreach/domain/recipients/RecipientRepository"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"
import { commitTimestamp } from "../events/commitTimestamp.ts"
import { recipientColumns, recipientOf } from "./recipientColumns.ts"

/** Keeps recipients in PostgreSQL. */
export const RecipientRepositoryPg = Layer.effect(
  RecipientRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(recipientColumns)

    return {
      register: Effect.fn("RecipientRepository.register")(
        function* (campaignId, candidates) {
          // The share lock keeps the campaign from being scheduled while rows are added that its publication would miss.
          const campaigns = yield* sql<Pick<Campaign, "organizationId" | "programId" | "status">>`
            select organization_id as "organizationId", program_id as "programId", status
            from campaigns where id = ${campaignId} for share`
          const campaign = campaigns[0] ?? (yield* new CampaignNotFound({ campaignId }))
          const { organizationId, programId, status } = campaign
          if (!IMPORTABLE.includes(status)) {
            return yield* new CampaignNotInStatus({ campaignId, status, wanted: [...IMPORTABLE] })
          }
          // With the clock in hand: who is suppressed meanwhile waits for this transaction, and withdraws whom it adds.
          const at = yield* commitTimestamp(organizationId)
          const over = yield* sql<{ over: boolean }>`select quota_reached(${organizationId}, ${programId}) as over`
          if (over[0]!.over) return yield* new QuotaReached({ campaignId, programId })
          const registered = yield* sql<{ id: string }>`
            insert into recipients
              (organization_id, id, campaign_id, program_id, token, npi, email, created_at, updated_at)
            select ${organizationId}, id, ${campaignId}, ${programId}, token, npi, email, ${at}::timestamptz, ${at}::timestamptz
            from unnest(
              ${candidates.map((c) => c.id)}::text[], ${candidates.map((c) => c.token)}::text[],
              ${candidates.map((c) => c.npi)}::text[], ${candidates.map((c) => c.email)}::text[]
            ) as candidate (id, token, npi, email)
            where not must_not_write_to(${organizationId}, ${programId}, npi, email)
            on conflict do nothing
            returning id`
          const ids = new Set(registered.map((row) => row.id))
          const refused = candidates.filter((candidate) => !ids.has(candidate.id))
          if (refused.length === 0) return candidates.map(() => "registered" as const)
          const conflicts = yield* sql<{ id: string; why: Registration }>`
            select candidate.id, case
                when bool_or(npi_twin.npi is not null and lower(npi_twin.email) = lower(candidate.email)) then 'already_there'
                when bool_or(must_not_write_to(${organizationId}, ${programId}, candidate.npi, candidate.email)) then 'suppressed'
                when bool_or(npi_twin.npi is not null) then 'npi_taken'
                when bool_or(email_twin.npi is not null) then 'email_taken'
                else 'token_taken' end as why
            from unnest(
              ${refused.map((c) => c.id)}::text[], ${refused.map((c) => c.npi)}::text[], ${refused.map((c) => c.email)}::text[]
            ) as candidate (id, npi, email)
            left join recipients npi_twin on npi_twin.organization_id = ${organizationId}
              and npi_twin.campaign_id = ${campaignId} and npi_twin.npi = candidate.npi
            left join recipients email_twin on email_twin.organization_id = ${organizationId}
              and email_twin.campaign_id = ${campaignId} and lower(email_twin.email) = lower(candidate.email)
            group by candidate.id`
          const why = new Map(conflicts.map((row) => [row.id, row.why]))
          return candidates.map((candidate) => why.get(candidate.id) ?? ("registered" as const))
        },
        sql.withTransaction,
        Effect.provideService(SqlClient.SqlClient, sql),
        orDieAs("RecipientRepository.register"),
      ),

      find: (organizationId, token) =>
        sql`select ${columns} from recipients where organization_id = ${organizationId} and token = ${token}`.values.pipe(
          Effect.map((rows) => rows.map(recipientOf)[0]),
          orDieAs("RecipientRepository.find"),
        ),

      findAll: (organizationId, ids) =>
        sql`
          select ${columns} from recipients
          where organization_id = ${organizationId} and id = any (${ids}::text[])`.values.pipe(
          Effect.map((rows) => new Map(rows.map(recipientOf).map((recipient) => [recipient.id, recipient]))),
          orDieAs("RecipientRepository.findAll"),
        ),

      // JSON written by PostgreSQL costs more than it saves: see recipientColumns.ts.
      // Two statements rather than one with an "or": each is one range of recipients_by_update, so a deep page costs what the first costs.
      page: (organizationId, from, limit) =>
        ("after" in from
          ? sql`
              select ${columns} from recipients
              where organization_id = ${organizationId}
                and (updated_at, id) > (${from.after.updatedAt}::timestamptz, ${from.after.id})
              order by updated_at, id limit ${limit}`.values
          : sql`
              select ${columns} from recipients
              where organization_id = ${organizationId} and updated_at >= ${from.since}::timestamptz
              order by updated_at, id limit ${limit}`.values
        ).pipe(recipientsOf, orDieAs("RecipientRepository.page")),

      pageOfCampaign: (organizationId, campaignId, after, limit) =>
        (after
          ? sql`
              select ${columns} from recipients
              where organization_id = ${organizationId} and campaign_id = ${campaignId}
                and (updated_at, id) > (${after.updatedAt}::timestamptz, ${after.id})
              order by updated_at, id limit ${limit}`.values
          : sql`
              select ${columns} from recipients
              where organization_id = ${organizationId} and campaign_id = ${campaignId}
              order by updated_at, id limit ${limit}`.values
        ).pipe(recipientsOf, orDieAs("RecipientRepository.pageOfCampaign")),
    }
  }),
)

const recipientsOf = Effect.map((rows: ReadonlyArray<ReadonlyArray<unknown>>) => rows.map(recipientOf))
