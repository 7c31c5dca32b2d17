import { COUNT_CAP } from "@outreach/domain/countCaps"
import { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { SUPPRESSION_KINDS, SUPPRESSION_REASONS, type SuppressionKey } from "@outreach/domain/suppressions/Suppression"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { reader } from "@outreach/postgres/adapter"
import { allOf, equal, rowsOf } from "@outreach/postgres/rowsOf"
import { decodeSuppressions, suppressionColumns, toKeyTable } from "@outreach/postgres/suppressions/suppressionRows"
import { Effect, Schema } from "effect"
import { choice, type FilterOf, field, filterBy, timeRange } from "../operations/Field.ts"

/** The words for kinds and reasons of suppressions. */
export const SUPPRESSION_WORDS = {
  npi: "NPI",
  email: "Address",
  account_created: "has an account",
  unsubscribed: "unsubscribed",
  operator: "by an operator",
  bounced: "bounced permanently",
  complained: "complained",
} as const

const withWords = <Word extends keyof typeof SUPPRESSION_WORDS>(words: ReadonlyArray<Word>) =>
  words.map((word) => [word, SUPPRESSION_WORDS[word]] as const)

export const suppressionFilters = {
  organizationId: filterBy.organization,
  programId: field(ProgramId, "Program", { kind: "choice", all: "All", hint: "With the entries of its organization" }),
  scope: choice("Scope", ["program", "organization"], { all: "All" }),
  kind: choice("Kind", withWords(SUPPRESSION_KINDS), { all: "All" }),
  reason: choice("Reason", withWords(SUPPRESSION_REASONS), { all: "All" }),
  ...timeRange("Created from", "Created before"),
}

/** The position in a list: after the first `seen` entries of this time. It contains no value, because values are personal. */
type SuppressionCursor = Readonly<{ createdAt: Timestamp; seen: number }>

const MAX_SCOPES = 50

/** The number of entries of a program, or of an organization as a whole, up to `COUNT_CAP`. */
const ScopeCount = Schema.Struct({
  organizationId: OrganizationId,
  /** Null for those of the whole organization. */
  programId: Schema.NullOr(ProgramId),
  name: Schema.String,
  count: Schema.Int,
})
const scopeCounts = rowsOf(ScopeCount, {
  count: `(
    select count(*)::int from (
      select from suppressions suppression
      where suppression.organization_id = scope.organization_id and suppression.program_id = coalesce(scope.program_id, '')
      limit ${COUNT_CAP}
    ) entry
  )`,
})

/** Lists and counts suppressions, each scope and reason by a range of an index. */
export const SuppressionReader = reader("SuppressionReader", (sql) => ({
  /** Lists entries, newest first. Those of a program include the ones of its organization. */
  list: Effect.fnUntraced(function* (
    { organizationId, programId, scope, kind, reason, from, to }: FilterOf<typeof suppressionFilters>,
    { limit, after }: { readonly limit: number; readonly after: SuppressionCursor | null },
  ) {
    const reasons = reason === undefined ? SUPPRESSION_REASONS : [reason]
    // The next page reads entries of the same time again, and skips them by their number.
    const rows = limit + (after?.seen ?? 0)
    const isMeant = allOf(
      sql`suppression.reason = wanted.reason`,
      equal({ kind }),
      from && sql`suppression.created_at >= ${from}`,
      to && sql`suppression.created_at < ${to}`,
      after === null ? undefined : sql`suppression.created_at <= ${after.createdAt}`,
    )
    const found = yield* sql`
      select entry.* from (
        select organization_id, id from programs program
        where ${scope !== "organization"}::boolean and ${equal({ organization_id: organizationId, id: programId })}
        union all
        select id, '' from organizations
        where ${scope !== "program"}::boolean and ${allOf(
          equal({ id: organizationId }),
          programId && sql`id = (select organization_id from programs where id = ${programId})`,
        )}
      ) scope cross join unnest(${reasons}::text[]) as wanted (reason) cross join lateral (
        select ${suppressionColumns} from suppressions suppression
        where organization_id = scope.organization_id and program_id = scope.id and ${isMeant}
        order by suppression.created_at desc limit ${rows}
      ) entry
      order by "createdAt" desc, "organizationId", "programId", kind, value limit ${rows}`.pipe(decodeSuppressions)
    let last = { createdAt: "", seen: 0 }
    const entries = found.map((entry) => {
      const { createdAt, programId } = entry
      last = { createdAt, seen: createdAt === last.createdAt ? last.seen + 1 : 1 }
      return { ...entry, scope: programId === null ? "organization" : "program", seen: last.seen }
    })
    return entries.filter(({ createdAt, seen }) => createdAt !== after?.createdAt || seen > after.seen).slice(0, limit)
  }),

  /** Finds the entries of these keys in an organization and its programs. */
  find: (organizationId: OrganizationId, keys: ReadonlyArray<SuppressionKey>) =>
    sql`
      -- The limit forces a probe of the primary key for each key.
      select suppression.* from ${toKeyTable(keys)} cross join lateral (
        select ${suppressionColumns} from suppressions suppression
        where organization_id = ${organizationId} and suppression.kind = key.kind and suppression.value = key.value
        limit ${COUNT_CAP}
      ) suppression
      order by "programId" nulls first, kind, value`.pipe(decodeSuppressions),

  /** Counts the entries of each program and of the whole organization, up to `COUNT_CAP` each. */
  count: (organizationId: OrganizationId) =>
    sql`
      select ${scopeCounts.columns} from (
        select id as organization_id, null as program_id, name from organizations where id = ${organizationId}
        union all
        (select organization_id, id, name from programs
          where organization_id = ${organizationId} order by id desc limit ${MAX_SCOPES})
      ) scope`.pipe(scopeCounts.decode),
}))
