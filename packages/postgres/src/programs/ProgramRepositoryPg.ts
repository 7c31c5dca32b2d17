import { UNDER_WAY } from "@outreach/domain/campaigns/Campaign"
import type { CampaignId, OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import type { Program } from "@outreach/domain/programs/Program"
import {
  ProgramInUse,
  ProgramNotFound,
  ProgramRepository,
  ProgramSlugTaken,
} from "@outreach/domain/programs/ProgramRepository"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"
import { commitTimestamp } from "../events/commitTimestamp.ts"

/** How many of the campaigns that keep a program from being archived are named. */
const MAX_NAMED = 10

/** Keeps programs in PostgreSQL. */
export const ProgramRepositoryPg = Layer.effect(
  ProgramRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(`
      organization_id as "organizationId", id, slug, name, status, learner_target as "learnerTarget",
      completer_target as "completerTarget", created_at as "createdAt", updated_at as "updatedAt"`)

    return {
      create: Effect.fn("ProgramRepository.create")(function* (program) {
        const rows = yield* sql<{ found: boolean; created: boolean } & Program>`
          with organization as (
            select id from organizations where id = ${program.organizationId}
          ), created as (
            insert into programs (organization_id, id, slug, name, learner_target, completer_target)
            select id, ${program.id}, ${program.slug}, ${program.name}, ${program.learnerTarget}::int, ${program.completerTarget}::int
            from organization
            on conflict on constraint programs_slug do nothing
            returning *
          )
          select exists (select from organization) as found, exists (select from created) as created, ${columns}
          from (select) as always left join created on true`
        const { found, created, ...row } = rows[0]!
        if (!found) return yield* new OrganizationNotFound({ organizationId: program.organizationId })
        if (!created) return yield* new ProgramSlugTaken({ slug: program.slug })
        return row
      }, orDieAs("ProgramRepository.create")),

      find: Effect.fn("ProgramRepository.find")(function* (programId) {
        const rows = yield* sql<Program>`select ${columns} from programs where id = ${programId}`
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

      update: Effect.fn("ProgramRepository.update")(
        function* (programId, { name, status, learnerTarget, completerTarget }) {
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
          const rows = yield* sql<Program>`
            update programs set name = coalesce(${name ?? null}, name), status = coalesce(${status ?? null}, status),
              learner_target = case when ${learnerTarget !== undefined}::boolean then ${learnerTarget ?? null}::int else learner_target end,
              completer_target = case when ${completerTarget !== undefined}::boolean then ${completerTarget ?? null}::int else completer_target end,
              updated_at = clock_timestamp()
            where organization_id = ${organizationId} and id = ${programId}
            returning ${columns}`
          if (learnerTarget !== undefined || completerTarget !== undefined) yield* retarget(organizationId, programId)
          return rows[0]!
        },
        sql.withTransaction,
        Effect.provideService(SqlClient.SqlClient, sql),
        orDieAs("ProgramRepository.update"),
      ),

      list: Effect.fn("ProgramRepository.list")(
        (organizationId) => sql<Program>`
          select ${columns} from programs
          where ${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null} order by id`,
        orDieAs("ProgramRepository.list"),
      ),
    }
  }),
)

/** Judges anew which targets of a program are reached, part of the transaction that changed them: the digest of today tells it. */
const retarget = Effect.fnUntraced(function* (organizationId: OrganizationId, programId: ProgramId) {
  const sql = yield* SqlClient.SqlClient
  const at = yield* commitTimestamp(organizationId)
  yield* sql`
    insert into digest_funnel as kept
      (organization_id, program_id, date, account_created, learner_qualified, completer_qualified,
        account_created_total, learner_qualified_total, completer_qualified_total, learner_reached_at, completer_reached_at)
    select organization_id, program_id, (${at}::timestamptz at time zone 'UTC')::date, 0, 0, 0,
      account_created_total, learner_qualified_total, completer_qualified_total,
      case when learner_qualified_total >= learner_target then coalesce(learner_reached_at, ${at}::timestamptz) end,
      case when completer_qualified_total >= completer_target then coalesce(completer_reached_at, ${at}::timestamptz) end
    from (
      select * from digest_funnel where organization_id = ${organizationId} and program_id = ${programId} order by date desc limit 1
    ) newest
    cross join (
      select learner_target, completer_target from programs where organization_id = ${organizationId} and id = ${programId}
    ) program
    on conflict (organization_id, program_id, date) do update set
      learner_reached_at = excluded.learner_reached_at, completer_reached_at = excluded.completer_reached_at`
})
