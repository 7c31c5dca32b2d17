import { COUNT_CAP } from "@outreach/domain/countCaps"
import type { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { SUPPRESSION_REASONS, type Suppression, type SuppressionKey } from "@outreach/domain/suppressions/Suppression"
import type { SuppressionFilter } from "@outreach/domain/suppressions/SuppressionRepository"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** Which entries are listed: all conditions must hold. */
export interface SuppressionListFilter extends SuppressionFilter {
  readonly organizationId?: OrganizationId | undefined
  /** Only entries of this program alone; those of its whole organization are not among them. */
  readonly programId?: ProgramId | undefined
  /** Only entries of whole organizations. */
  readonly ofOrganization?: boolean | undefined
  readonly from?: Timestamp | undefined
  readonly to?: Timestamp | undefined
}

/** Where a list goes on: after so many of the entries of this time. It holds no value, because that is personal. */
export interface SuppressionPosition {
  readonly at: Timestamp
  readonly seen: number
}

/** The most programs whose entries are counted. */
const MAX_SCOPES = 50

/** How many entries a program, or an organization as a whole, has; `COUNT_CAP` stands for as many or more. */
export interface SuppressionCount {
  readonly organizationId: OrganizationId
  /** Null for those of the whole organization. */
  readonly programId: ProgramId | null
  readonly name: string
  readonly count: number
}

/** Lists and counts suppressions, each scope and reason by a range of an index. */
export class SuppressionReader extends Context.Service<SuppressionReader>()(
  "backoffice/suppressions/SuppressionReader",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const reasonsOf = ({ reason }: SuppressionListFilter) => (reason === undefined ? SUPPRESSION_REASONS : [reason])

      return {
        /** Lists entries, newest first. */
        list: Effect.fn("SuppressionReader.list")(function* (
          filter: SuppressionListFilter,
          { limit, after = null }: { readonly limit: number; readonly after?: SuppressionPosition | null },
        ) {
          const {
            organizationId = null,
            programId = null,
            kind = null,
            from = null,
            to = null,
            ofOrganization,
          } = filter
          const seen = after?.seen ?? 0
          // Entries of one time are read again with the next page, and left out by their number.
          const rows = limit + 1 + seen
          const newest = sql`
          (${kind}::text is null or kind = ${kind}) and created_at >= coalesce(${from}::timestamptz, '-infinity')
          and created_at < coalesce(${to}::timestamptz, 'infinity') and created_at <= coalesce(${after?.at ?? null}::timestamptz, 'infinity')
          order by created_at desc limit ${rows}`
          const found = yield* sql<Suppression>`
          select organization_id as "organizationId", program_id as "programId", kind, value, reason, created_at as "createdAt"
          from (
            select entry.* from programs program
            cross join unnest(${reasonsOf(filter)}::text[]) as wanted (reason)
            cross join lateral (
              select organization_id, program_id, kind, value, suppressions.reason, created_at from suppressions
              where organization_id = program.organization_id and program_id = program.id and suppressions.reason = wanted.reason
                and ${newest}
            ) entry
            where not ${ofOrganization ?? false}::boolean
              and (${organizationId}::text is null or program.organization_id = ${organizationId})
              and (${programId}::text is null or program.id = ${programId})
            union all
            select entry.* from organizations organization
            cross join unnest(${reasonsOf(filter)}::text[]) as wanted (reason)
            cross join lateral (
              select organization_id, null, kind, value, suppression.reason, suppression.created_at
              from organization_suppressions suppression
              where organization_id = organization.id and suppression.reason = wanted.reason and ${newest}
            ) entry
            where ${programId}::text is null and (${organizationId}::text is null or organization.id = ${organizationId})
          ) entry (organization_id, program_id, kind, value, reason, created_at)
          order by created_at desc, organization_id, program_id, kind, value limit ${rows}`
          const skipped =
            after === null ? 0 : Math.min(seen, found.filter(({ createdAt }) => createdAt === after.at).length)
          const shown = found.slice(skipped, skipped + limit)
          const last = shown.at(-1)
          const next: SuppressionPosition | null =
            last === undefined || found.length <= skipped + limit
              ? null
              : {
                  at: last.createdAt,
                  seen:
                    shown.filter(({ createdAt }) => createdAt === last.createdAt).length +
                    (after?.at === last.createdAt ? skipped : 0),
                }
          return { suppressions: shown, next }
        }, orDieAs("SuppressionReader.list")),

        /** Finds the entries of these keys in every program of an organization, and in the organization. */
        find: Effect.fn("SuppressionReader.find")(function* (
          organizationId: OrganizationId,
          keys: ReadonlyArray<SuppressionKey>,
        ) {
          return yield* sql<Suppression>`
          with key as materialized (
            select * from unnest(
              ${keys.map(({ kind }) => kind)}::text[], ${keys.map(({ value }) => value.toLowerCase())}::text[]) as key (kind, value)
          )
          select organization_id as "organizationId", program_id as "programId", kind, value, reason, created_at as "createdAt"
          from (
            select entry.* from programs program cross join key cross join lateral (
              select organization_id, program_id, kind, value, reason, created_at from suppressions
              where organization_id = program.organization_id and program_id = program.id and kind = key.kind and value = key.value
              limit 1
            ) entry
            where program.organization_id = ${organizationId}
            union all
            select organization_id, null, suppression.kind, suppression.value, reason, created_at
            from key join organization_suppressions suppression
              on organization_id = ${organizationId} and suppression.kind = key.kind and suppression.value = key.value
          ) entry (organization_id, program_id, kind, value, reason, created_at)
          order by program_id nulls first, kind, value`
        }, orDieAs("SuppressionReader.find")),

        /** Counts the entries of each program and of the whole of its organization, up to `COUNT_CAP` each. */
        count: Effect.fn("SuppressionReader.count")(function* (organizationId: OrganizationId) {
          return yield* sql<SuppressionCount>`
          select organization.id as "organizationId", null as "programId", organization.name, (
            select count(*) from (
              select from organization_suppressions where organization_id = organization.id limit ${COUNT_CAP}
            ) entry
          )::int as count
          from organizations organization where id = ${organizationId}
          union all
          select * from (
            select program.organization_id, program.id, program.name, (
              select count(*) from (
                select from suppressions where organization_id = program.organization_id and program_id = program.id
                limit ${COUNT_CAP}
              ) entry
            )::int
            from programs program where organization_id = ${organizationId} order by id desc limit ${MAX_SCOPES}
          ) of_program`
        }, orDieAs("SuppressionReader.count")),
      }
    }),
  },
) {
  static readonly layer = Layer.effect(SuppressionReader, SuppressionReader.make)
}
