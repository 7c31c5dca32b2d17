import { UNDER_WAY } from "@outreach/domain/campaigns/Campaign"
import type { CampaignId, OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import { Program } from "@outreach/domain/programs/Program"
import {
  ProgramInUse,
  ProgramNotFound,
  ProgramRepository,
  ProgramSlugTaken,
} from "@outreach/domain/programs/ProgramRepository"
import { ClockSkew } from "@outreach/postgres-connection/ClockSkew"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"
import { addToFunnels } from "../digest/DigestRepositoryPg.ts"
import { commitTimestamp } from "../events/commitTimestamp.ts"
import { rowsOf } from "../rowsOf.ts"

/** How many of the campaigns that keep a program from being archived are named. */
const MAX_NAMED = 10

/** Keeps programs in PostgreSQL. */
export const ProgramRepositoryPg = Layer.effect(
  ProgramRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const skew = yield* ClockSkew
    const { columns, decode } = rowsOf(Program)
    const selected = sql.literal(columns)

    return {
      create: Effect.fn("ProgramRepository.create")(function* (program) {
        const { organizationId, id, slug, name, senderName, postalAddress, learnerTarget, completerTarget } = program
        const created = yield* sql`
          insert into programs (organization_id, id, slug, name, sender_name, postal_address, learner_target, completer_target)
          select organizations.id, ${id}, ${slug}, ${name}, ${senderName ?? null}, ${postalAddress ?? null}, ${learnerTarget}::int, ${completerTarget}::int
          from organizations where organizations.id = ${organizationId}
          on conflict on constraint programs_slug do nothing
          returning ${selected}`.pipe(decode)
        if (created[0] !== undefined) return created[0]
        const known = yield* sql`select from organizations where id = ${organizationId}`
        return yield* known.length > 0 ? new ProgramSlugTaken({ slug }) : new OrganizationNotFound({ organizationId })
      }, orDieAs("ProgramRepository.create")),

      find: Effect.fn("ProgramRepository.find")(function* (programId) {
        const rows = yield* sql`select ${selected} from programs where id = ${programId}`.pipe(decode)
        return rows[0] ?? (yield* new ProgramNotFound({ programId }))
      }, orDieAs("ProgramRepository.find")),

      findIds: Effect.fnUntraced(function* (organizationId, slugs) {
        // PostgreSQL takes no text with a NUL, so no slug has one.
        const texts = slugs.filter((slug) => !slug.includes("\0"))
        const rows = yield* sql<{ slug: string; id: ProgramId }>`
          select slug, id from programs where organization_id = ${organizationId} and slug = any (${texts}::text[])`
        return new Map(rows.map(({ slug, id }) => [slug, id]))
      }, orDieAs("ProgramRepository.findIds")),

      isQuotaReached: (organizationId, programId) =>
        sql<{ reached: boolean }>`select quota_reached(${organizationId}, ${programId}) as reached`.pipe(
          Effect.map((rows) => rows[0]!.reached),
          orDieAs("ProgramRepository.isQuotaReached"),
        ),

      countCompleters: (organizationId, programId) =>
        sql<{ count: number }>`
          select completer_qualified_total as count from digest_funnel
          where organization_id = ${organizationId} and program_id = ${programId} order by date desc limit 1`.pipe(
          Effect.map((rows) => rows[0]?.count ?? 0),
          orDieAs("ProgramRepository.countCompleters"),
        ),

      update: Effect.fn("ProgramRepository.update")(
        function* (programId, { name, senderName, postalAddress, status, learnerTarget, completerTarget }) {
          const locked = yield* sql<{ organizationId: OrganizationId }>`
            select organization_id as "organizationId" from programs where id = ${programId} for no key update`
          const { organizationId } = locked[0] ?? (yield* new ProgramNotFound({ programId }))
          if (status === "archived") {
            const campaigns = yield* sql<{ id: CampaignId }>`
              select id from campaigns
              where organization_id = ${organizationId} and program_id = ${programId} and status = any (${UNDER_WAY}::text[])
              order by id limit ${MAX_NAMED}`
            if (campaigns.length > 0) {
              return yield* new ProgramInUse({ programId, campaignIds: campaigns.map(({ id }) => id) })
            }
          }
          const rows = yield* sql`
            update programs set name = coalesce(${name ?? null}, name), status = coalesce(${status ?? null}, status),
              sender_name = coalesce(${senderName ?? null}, sender_name), postal_address = coalesce(${postalAddress ?? null}, postal_address),
              learner_target = case when ${learnerTarget !== undefined}::boolean then ${learnerTarget ?? null}::int else learner_target end,
              completer_target = case when ${completerTarget !== undefined}::boolean then ${completerTarget ?? null}::int else completer_target end,
              updated_at = clock_timestamp()
            where organization_id = ${organizationId} and id = ${programId}
            returning ${selected}`.pipe(decode)
          if (learnerTarget !== undefined || completerTarget !== undefined) {
            yield* addToFunnels(organizationId, [programId], [], yield* commitTimestamp(organizationId))
          }
          return rows[0]!
        },
        sql.withTransaction,
        Effect.provideService(SqlClient.SqlClient, sql),
        Effect.provideService(ClockSkew, skew),
        orDieAs("ProgramRepository.update"),
      ),

      list: Effect.fn("ProgramRepository.list")(
        (organizationId) =>
          sql`
          select ${selected} from programs
          where ${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null} order by id`.pipe(
            decode,
          ),
        orDieAs("ProgramRepository.list"),
      ),
    }
  }),
)
