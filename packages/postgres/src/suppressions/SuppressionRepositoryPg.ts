import type { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { ProgramNotFound } from "@outreach/domain/programs/ProgramRepository"
import type { Suppression, SuppressionScope } from "@outreach/domain/suppressions/Suppression"
import { SuppressionRepository } from "@outreach/domain/suppressions/SuppressionRepository"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"

/** Keeps suppressions in PostgreSQL. */
export const SuppressionRepositoryPg = Layer.effect(
  SuppressionRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const columns = (programId: string) =>
      sql.literal(`
        organization_id as "organizationId", ${programId} as "programId", suppression.kind, suppression.value, reason,
        created_at as "createdAt"`)
    const ofProgram = columns("program_id")
    const ofOrganization = columns("null")

    const organizationOf = Effect.fnUntraced(function* (programId: ProgramId) {
      const rows = yield* sql<{ id: OrganizationId }>`
        select organization_id as id from programs where id = ${programId}`
      return (rows[0] ?? (yield* new ProgramNotFound({ programId }))).id
    })
    const ownerOf = ({ programId, organizationId }: SuppressionScope) =>
      programId === undefined ? Effect.succeed(organizationId) : organizationOf(programId)

    return {
      add: Effect.fnUntraced(function* (organizationId, clinicians, reason) {
        const ofPrograms = clinicians.filter(({ programId }) => programId !== null)
        const ofAll = clinicians.filter(({ programId }) => programId === null)
        // What an unsubscription suppressed for another reason as well is not lifted with it.
        const isUnsubscription = reason === "unsubscribed"
        const added = yield* sql<{ readonly isNew: boolean }>`
          insert into suppressions (organization_id, program_id, kind, value, reason, by_unsubscription)
          select distinct ${organizationId}, program_id, entry.kind, entry.value, ${reason}, ${isUnsubscription}::boolean
          from unnest(
            ${ofPrograms.map(({ programId }) => programId!)}::text[], ${ofPrograms.map(({ npi }) => npi ?? "")}::text[],
            ${ofPrograms.map(({ email }) => email ?? "")}::text[]
          ) as clinician (program_id, npi, email)
          cross join lateral (values ('npi', npi), ('email', lower(email))) as entry (kind, value)
          where entry.value <> ''
          order by 2, 3, 4
          on conflict (organization_id, program_id, kind, value) do update
            set reason = excluded.reason, by_unsubscription = false
            where suppressions.by_unsubscription and not excluded.by_unsubscription
          returning xmax = 0 as "isNew"`
        const ofProgramsAdded = countNew(added)
        if (ofAll.length === 0) return ofProgramsAdded
        const addedToAll = yield* sql<{ readonly isNew: boolean }>`
          insert into organization_suppressions (organization_id, kind, value, reason, applied_at, by_unsubscription)
          select distinct ${organizationId}, entry.kind, entry.value, ${reason}, clock_timestamp(), ${isUnsubscription}::boolean
          from unnest(${ofAll.map(({ npi }) => npi ?? "")}::text[], ${ofAll.map(({ email }) => email ?? "")}::text[]) as clinician (npi, email)
          cross join lateral (values ('npi', npi), ('email', lower(email))) as entry (kind, value)
          where entry.value <> ''
          order by 2, 3
          on conflict (organization_id, kind, value) do update
            set reason = excluded.reason, by_unsubscription = false
            where organization_suppressions.by_unsubscription and not excluded.by_unsubscription
          returning xmax = 0 as "isNew"`
        return ofProgramsAdded + countNew(addedToAll)
      }, orDieAs("SuppressionRepository.add")),

      remove: Effect.fn("SuppressionRepository.remove")(function* (scope, keys) {
        const organizationId = yield* ownerOf(scope)
        const { programId = null } = scope
        const rows = yield* sql`
          with key as (
            select kind, lower(value) as value
            from unnest(${keys.map(({ kind }) => kind)}::text[], ${keys.map(({ value }) => value)}::text[]) as key (kind, value)
          ), of_program as (
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
      }, orDieAs("SuppressionRepository.remove")),

      // The limits make each key a probe of the primary keys, however many suppressions there are: PostgreSQL would read both tables whole.
      find: Effect.fn("SuppressionRepository.find")(function* (scope, keys) {
        const organizationId = yield* ownerOf(scope)
        const { programId = null } = scope
        return yield* sql<Suppression>`
          select suppression.* from unnest(
            ${keys.map(({ kind }) => kind)}::text[], ${keys.map(({ value }) => value)}::text[]) as key (kind, value)
          cross join lateral (
            (select ${ofProgram} from suppressions suppression
              where organization_id = ${organizationId} and program_id = ${programId} and kind = key.kind and value = lower(key.value)
              limit 1)
            union all
            (select ${ofOrganization} from organization_suppressions suppression
              where organization_id = ${organizationId} and kind = key.kind and value = lower(key.value)
              limit 1)
          ) suppression`
      }, orDieAs("SuppressionRepository.find")),

      list: Effect.fn("SuppressionRepository.list")(function* (programId, limit, { kind = null, reason = null } = {}) {
        const organizationId = yield* organizationOf(programId)
        const filter = sql`(${kind}::text is null or kind = ${kind}) and (${reason}::text is null or reason = ${reason})`
        return yield* sql<Suppression>`
          (select ${ofProgram} from suppressions suppression
            where organization_id = ${organizationId} and program_id = ${programId} and ${filter}
            order by kind, value limit ${limit})
          union all
          (select ${ofOrganization} from organization_suppressions suppression
            where organization_id = ${organizationId} and ${filter}
            order by kind, value limit ${limit})
          order by kind, value, "programId" limit ${limit}`
      }, orDieAs("SuppressionRepository.list")),

      findUnapplied: (limit) =>
        sql<Suppression>`
          select organization_id as "organizationId", null as "programId", kind, value, reason, suppression.created_at as "createdAt"
          from organization_suppressions suppression
          join organizations organization on organization.id = organization_id and frozen_at is null
          where applied_at is null
          order by suppression.created_at limit ${limit}`.pipe(orDieAs("SuppressionRepository.findUnapplied")),

      markApplied: (organizationId, keys) =>
        sql`
          update organization_suppressions suppression set applied_at = clock_timestamp()
          from unnest(${keys.map(({ kind }) => kind)}::text[], ${keys.map(({ value }) => value)}::text[]) as key (kind, value)
          where organization_id = ${organizationId} and suppression.kind = key.kind and suppression.value = key.value`.pipe(
          Effect.asVoid,
          orDieAs("SuppressionRepository.markApplied"),
        ),
    }
  }),
)

const countNew = (rows: ReadonlyArray<{ readonly isNew: boolean }>): number => rows.filter(({ isNew }) => isNew).length
