import type { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { ProgramNotFound } from "@outreach/domain/programs/ProgramRepository"
import type { Suppression } from "@outreach/domain/suppressions/Suppression"
import { SuppressionRepository } from "@outreach/domain/suppressions/SuppressionRepository"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"

/** Keeps suppressions in PostgreSQL. */
export const SuppressionRepositoryPg = Layer.effect(
  SuppressionRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const columns = sql.literal(`
      organization_id as "organizationId", program_id as "programId", suppression.kind, suppression.value, reason,
      created_at as "createdAt"`)

    const organizationOf = Effect.fnUntraced(function* (programId: ProgramId) {
      const rows = yield* sql<{ id: OrganizationId }>`
        select organization_id as id from programs where id = ${programId}`
      return (rows[0] ?? (yield* new ProgramNotFound({ programId }))).id
    })

    return {
      add: (organizationId, clinicians, reason) =>
        sql`
          insert into suppressions (organization_id, program_id, kind, value, reason)
          select distinct ${organizationId}, program_id, entry.kind, entry.value, ${reason}
          from unnest(
            ${clinicians.map(({ programId }) => programId)}::text[], ${clinicians.map(({ npi }) => npi ?? "")}::text[],
            ${clinicians.map(({ email }) => email ?? "")}::text[]
          ) as clinician (program_id, npi, email)
          cross join lateral (values ('npi', npi), ('email', lower(email))) as entry (kind, value)
          where entry.value <> ''
          order by 2, 3, 4
          on conflict do nothing
          returning 1`.pipe(
          Effect.map((rows) => rows.length),
          orDieAs("SuppressionRepository.add"),
        ),

      remove: Effect.fn("SuppressionRepository.remove")(function* (programId, keys) {
        const organizationId = yield* organizationOf(programId)
        const rows = yield* sql`
          delete from suppressions suppression
          using unnest(${keys.map(({ kind }) => kind)}::text[], ${keys.map(({ value }) => value)}::text[]) as key (kind, value)
          where organization_id = ${organizationId} and program_id = ${programId}
            and suppression.kind = key.kind and suppression.value = lower(key.value)
          returning 1`
        return rows.length
      }, orDieAs("SuppressionRepository.remove")),

      find: Effect.fn("SuppressionRepository.find")(function* (programId, keys) {
        const organizationId = yield* organizationOf(programId)
        return yield* sql<Suppression>`
          select ${columns} from unnest(
            ${keys.map(({ kind }) => kind)}::text[], ${keys.map(({ value }) => value)}::text[]) as key (kind, value)
          cross join lateral (
            select * from suppressions
            where organization_id = ${organizationId} and program_id = ${programId} and kind = key.kind and value = lower(key.value)
            limit 1) suppression`
      }, orDieAs("SuppressionRepository.find")),

      list: Effect.fn("SuppressionRepository.list")(function* (programId, limit, kind) {
        const organizationId = yield* organizationOf(programId)
        return yield* sql<Suppression>`
          select ${columns} from suppressions suppression
          where organization_id = ${organizationId} and program_id = ${programId}
            and (${kind ?? null}::text is null or kind = ${kind ?? null})
          order by kind, value limit ${limit}`
      }, orDieAs("SuppressionRepository.list")),
    }
  }),
)
