import { suppressionFilters } from "@outreach/backoffice/lists/suppressions"
import { UnclearScope } from "@outreach/backoffice/operations/clinicians"
import { columns } from "@outreach/backoffice/operations/recipients"
import { createSuppression, findScope, removeSuppression, scope } from "@outreach/backoffice/operations/suppressions"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { TimelineReader } from "@outreach/backoffice/recipients/TimelineReader"
import { type SuppressionListFilter, SuppressionReader } from "@outreach/backoffice/suppressions/SuppressionReader"
import { SUPPRESSION_REASONS } from "@outreach/domain/suppressions/Suppression"
import { Timestamp } from "@outreach/domain/Timestamp"
import { wholeNumber } from "@outreach/domain/textSchema"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { SuppressionRepositoryPg } from "@outreach/postgres/suppressions/SuppressionRepositoryPg"
import { WithdrawalRepositoryPg } from "@outreach/postgres/suppressions/WithdrawalRepositoryPg"
import { Effect, Layer } from "effect"
import { changing, group, revealing } from "../Declaration.ts"
import { quiet } from "../inputs/filters.ts"
import { choice, optional, text, textArgument } from "../inputs/Input.ts"
import { command, inputsOf } from "../operationCommand.ts"
import { showingImport } from "../output/Output.ts"
import { erasedClinicians } from "../secretCipher.ts"

const readFilter = Effect.fnUntraced(function* ({ programId, ...filter }: SuppressionListFilter) {
  if (programId === undefined && filter.organizationId === undefined) return filter
  const { organizationId } = yield* findScope({ programId, organizationId: filter.organizationId })
  return {
    ...filter,
    organizationId,
    ...(programId && { programId, ofOrganization: "too" }),
  } satisfies SuppressionListFilter
})

const list = revealing({
  about: "List suppressions, newest first, each with its program or organization",
  examples: ["ops suppressions list --organization org_… --reason bounced"],
  input: inputsOf(suppressionFilters),
  cursor: { createdAt: Timestamp, seen: wholeNumber(1, 1_000_000) },
  *run(input, { limit, after }) {
    const filter = yield* readFilter(input)
    const { suppressions } = yield* SuppressionReader.use(({ list }) =>
      list(filter, { limit, after: after && { at: after.createdAt, seen: after.seen } }),
    )
    // An entry of the list is identified by its time and its number among those of that time, because its value is personal.
    const seen = new Map(after === null ? [] : [[after.createdAt, after.seen]])
    return suppressions.map((row) => {
      seen.set(row.createdAt, (seen.get(row.createdAt) ?? 0) + 1)
      return { ...row, scope: row.programId === null ? "organization" : "program", seen: seen.get(row.createdAt) }
    })
  },
  columns: ["kind", "value", "reason", "scope", "organizationId", "programId", "createdAt"],
})

const exportEntries = revealing({
  about: "Export suppressions to a new CSV file for `suppressions import`",
  examples: [
    "ops suppressions export --organization org_… --out suppressions.csv",
    "ops suppressions export --organization org_… --reason bounced --out bounces.csv",
  ],
  input: {
    ...inputsOf(suppressionFilters),
    out: text("Write to this new file, readable only by its owner", "FILE"),
  },
  *run({ out, ...input }) {
    if (input.programId === undefined && input.organizationId === undefined) return yield* new UnclearScope()
    const { exportSuppressions } = yield* Effect.promise(() => import("../suppressions/exportSuppressions.ts"))
    return { out, entries: yield* exportSuppressions(yield* readFilter(input), out) }
  },
})

const load = changing({
  about:
    "Suppress everyone in a CSV file; a re-run adds nothing twice. Its columns are npi, email or both, and optionally reason and program, as `suppressions export` writes them",
  examples: [
    "ops suppressions import --program pgm_… accounts.csv",
    "ops suppressions import --organization org_… bounces.csv --reason bounced",
  ],
  input: {
    ...inputsOf(scope),
    reason: optional(
      choice(SUPPRESSION_REASONS, "The reason for all lines (default: the reason of each line, or operator)"),
    ),
    ...inputsOf(columns),
    quiet,
    file: textArgument("A delimited text file whose first line names the columns npi, email or both"),
  },
  *run({ file, programId, organizationId, quiet, ...options }) {
    const { scope } = yield* findScope({ programId, organizationId })
    const { importSuppressions } = yield* Effect.promise(() => import("../suppressions/importSuppressions.ts"))
    return { ...scope, ...(yield* showingImport(quiet)(importSuppressions(scope, file, options))) }
  },
})

export const suppressions = group({
  about: "Clinicians that a program must not write to",
  commands: {
    create: command(createSuppression),
    list,
    remove: command(removeSuppression),
    import: load,
    export: exportEntries,
  },
  services: Layer.mergeAll(
    SuppressionRepositoryPg,
    WithdrawalRepositoryPg,
    ProgramRepositoryPg,
    OrganizationReader.layer,
    SuppressionReader.layer,
    Layer.provideMerge(TimelineReader.layer, erasedClinicians),
  ),
})
