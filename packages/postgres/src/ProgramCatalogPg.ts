import { OrganizationNotFound } from "@outreach/domain/callers/OrganizationRegistry"
import type { Program } from "@outreach/domain/programs/Program"
import { ProgramCatalog, ProgramSlugTaken } from "@outreach/domain/programs/ProgramCatalog"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dieNaming } from "./DatabaseFailure.ts"

/** Keeps programs in PostgreSQL. */
export const ProgramCatalogPg = Layer.effect(
  ProgramCatalog,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(`
      organization_id as "organizationId", id, slug, name, status, learner_target as "learnerTarget",
      completer_target as "completerTarget", created_at as "createdAt", updated_at as "updatedAt"`)

    return {
      create: Effect.fn("ProgramCatalog.create")(function* (program) {
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
      }, dieNaming("ProgramCatalog.create")),

      list: Effect.fn("ProgramCatalog.list")(
        (organizationId) => sql<Program>`
          select ${columns} from programs
          where ${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null} order by id`,
        dieNaming("ProgramCatalog.list"),
      ),
    }
  }),
)
