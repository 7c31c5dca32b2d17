import { OrganizationId } from "@outreach/domain/Identifier"
import { ProgramNotFound } from "@outreach/domain/programs/ProgramRepository"
import { type SuppressionScope, suppressionKeys } from "@outreach/domain/suppressions/Suppression"
import { SuppressionRepository } from "@outreach/domain/suppressions/SuppressionRepository"
import { Effect } from "effect"
import { adapter } from "../adapter.ts"
import { decodeColumn, decodeCount, firstOr } from "../rowsOf.ts"
import { toTable } from "../toTable.ts"
import { decodeSuppressions, suppressionColumns, toKeyTable } from "./suppressionRows.ts"

const decodeOwners = decodeColumn({ organization_id: OrganizationId })

export const SuppressionRepositoryPg = adapter(SuppressionRepository, function* (sql) {
  const ownerOf = ({ programId, organizationId }: SuppressionScope) =>
    programId === undefined
      ? Effect.succeed(organizationId)
      : sql`select organization_id from programs where id = ${programId}`.pipe(
          decodeOwners,
          firstOr(ProgramNotFound, { programId }),
        )

  return {
    add: (organizationId, clinicians, reason, { byUnsubscription = false, isApplied = true } = {}) => {
      const entries = clinicians.flatMap((clinician) =>
        suppressionKeys(clinician).map(({ kind, value }) => ({ programId: clinician.programId ?? "", kind, value })),
      )
      // Revoking an unsubscription doesn't lift a suppression that has a further reason.
      return sql`
          with entry as (
            select distinct kind, lower(value) as value, program_id
            from ${toTable("given", entries, { programId: "text", kind: "text", value: "text" })}
          ), added as (
            insert into suppressions as kept (organization_id, kind, value, program_id, reason, by_unsubscription, applied_at)
            select ${organizationId}, kind, value, program_id, ${reason}, ${byUnsubscription}::boolean,
              case when ${isApplied}::boolean then clock_timestamp() end
            from entry order by kind, value, program_id
            on conflict (organization_id, kind, value, program_id) do update
              set reason = excluded.reason, by_unsubscription = false
              where kept.by_unsubscription and not excluded.by_unsubscription
            returning xmax = 0 as is_new
          )
          select count(*)::int from added where is_new`.pipe(decodeCount)
    },

    remove: Effect.fnUntraced(function* (scope, keys) {
      const organizationId = yield* ownerOf(scope)
      const rows = yield* sql`
          delete from suppressions suppression using ${toKeyTable(keys)}
          where organization_id = ${organizationId} and suppression.kind = key.kind and suppression.value = key.value
            and program_id in ('', ${scope.programId ?? ""})
          returning 1`
      return rows.length
    }),

    // The limit forces a primary key probe for each key. Without it PostgreSQL would scan the table.
    find: Effect.fnUntraced(function* (scope, keys) {
      const organizationId = yield* ownerOf(scope)
      return yield* sql`
          select suppression.* from ${toKeyTable(keys)}
          cross join lateral (
            select ${suppressionColumns} from suppressions suppression
            where organization_id = ${organizationId} and kind = key.kind and value = key.value
              and program_id in ('', ${scope.programId ?? ""})
            limit 2
          ) suppression`.pipe(decodeSuppressions)
    }),

    findUnapplied: (limit) =>
      sql`
          select ${suppressionColumns} from suppressions suppression
          where applied_at is null
          order by suppression.created_at limit ${limit}`.pipe(decodeSuppressions),

    markApplied: (organizationId, keys) =>
      sql`
          update suppressions suppression set applied_at = clock_timestamp() from ${toKeyTable(keys)}
          where organization_id = ${organizationId} and suppression.kind = key.kind and suppression.value = key.value and program_id = ''`,
  }
})
