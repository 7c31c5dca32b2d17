import { OrganizationId, type ProgramId } from "@outreach/domain/Identifier"
import { ProgramNotFound } from "@outreach/domain/programs/ProgramRepository"
import { type SuppressionScope, suppressionKeys } from "@outreach/domain/suppressions/Suppression"
import { SuppressionRepository } from "@outreach/domain/suppressions/SuppressionRepository"
import { Effect } from "effect"
import { adapter } from "../adapter.ts"
import { decodeColumn, decodeCount, firstOr } from "../rowsOf.ts"
import { toTable } from "../toTable.ts"
import { decodeSuppressions, ofOrganization, ofProgram, toKeyTable } from "./suppressionRows.ts"

const decodeOwners = decodeColumn({ organization_id: OrganizationId })

export const SuppressionRepositoryPg = adapter(SuppressionRepository, function* (sql) {
  const organizationOf = (programId: ProgramId) =>
    sql`select organization_id from programs where id = ${programId}`.pipe(
      decodeOwners,
      firstOr(ProgramNotFound, { programId }),
    )
  const ownerOf = ({ programId, organizationId }: SuppressionScope) =>
    programId === undefined ? Effect.succeed(organizationId) : organizationOf(programId)

  return {
    add: (organizationId, clinicians, reason, { byUnsubscription = false, isApplied = true } = {}) => {
      const entries = clinicians.flatMap((clinician) =>
        suppressionKeys(clinician).map(({ kind, value }) => ({ programId: clinician.programId ?? "", kind, value })),
      )
      // Revoking an unsubscription doesn't lift a suppression that has a further reason.
      return sql`
          with entry as materialized (
            select distinct nullif(program_id, '') as program_id, kind, lower(value) as value
            from ${toTable("given", entries, { programId: "text", kind: "text", value: "text" })}
          ), of_program as (
            insert into suppressions (organization_id, program_id, kind, value, reason, by_unsubscription)
            select ${organizationId}, program_id, kind, value, ${reason}, ${byUnsubscription}::boolean
            from entry where program_id is not null order by 2, 3, 4
            on conflict (organization_id, program_id, kind, value) do update
              set reason = excluded.reason, by_unsubscription = false
              where suppressions.by_unsubscription and not excluded.by_unsubscription
            returning xmax = 0 as is_new
          ), of_organization as (
            insert into organization_suppressions (organization_id, kind, value, reason, applied_at, by_unsubscription)
            select ${organizationId}, kind, value, ${reason}, case when ${isApplied}::boolean then clock_timestamp() end, ${byUnsubscription}::boolean
            from entry where program_id is null order by 2, 3
            on conflict (organization_id, kind, value) do update
              set reason = excluded.reason, by_unsubscription = false
              where organization_suppressions.by_unsubscription and not excluded.by_unsubscription
            returning xmax = 0 as is_new
          )
          select count(*)::int from (select * from of_program union all select * from of_organization) added where is_new`.pipe(
        decodeCount,
      )
    },

    remove: Effect.fnUntraced(function* (scope, keys) {
      const organizationId = yield* ownerOf(scope)
      const { programId = null } = scope
      const rows = yield* sql`
          with key as (select * from ${toKeyTable(keys)}), of_program as (
            delete from suppressions suppression using key
            where organization_id = ${organizationId} and program_id = ${programId}
              and suppression.kind = key.kind and suppression.value = key.value
            returning 1
          ), of_organization as (
            delete from organization_suppressions suppression using key
            where organization_id = ${organizationId} and suppression.kind = key.kind and suppression.value = key.value
            returning 1
          )
          select from of_program union all select from of_organization`
      return rows.length
    }),

    // The limits force a primary key probe for each key. Without them PostgreSQL would scan both tables.
    find: Effect.fnUntraced(function* (scope, keys) {
      const organizationId = yield* ownerOf(scope)
      const { programId = null } = scope
      return yield* sql`
          select suppression.* from ${toKeyTable(keys)}
          cross join lateral (
            (select ${ofProgram} from suppressions suppression
              where organization_id = ${organizationId} and program_id = ${programId} and kind = key.kind and value = key.value
              limit 1)
            union all
            (select ${ofOrganization} from organization_suppressions suppression
              where organization_id = ${organizationId} and kind = key.kind and value = key.value
              limit 1)
          ) suppression`.pipe(decodeSuppressions)
    }),

    findUnapplied: (limit) =>
      sql`
          select ${ofOrganization} from organization_suppressions suppression
          where applied_at is null
          order by suppression.created_at limit ${limit}`.pipe(decodeSuppressions),

    markApplied: (organizationId, keys) =>
      sql`
          update organization_suppressions suppression set applied_at = clock_timestamp() from ${toKeyTable(keys)}
          where organization_id = ${organizationId} and suppression.kind = key.kind and suppression.value = key.value`,
  }
})
