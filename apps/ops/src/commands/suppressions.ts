import { suppressions as suppressionList } from "@outreach/backoffice/lists/suppressions"
import { columns } from "@outreach/backoffice/operations/recipients"
import { createSuppression, findScope, removeSuppression, scope } from "@outreach/backoffice/operations/suppressions"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { TimelineReader } from "@outreach/backoffice/recipients/TimelineReader"
import { SuppressionReader } from "@outreach/backoffice/suppressions/SuppressionReader"
import { SUPPRESSION_REASONS } from "@outreach/domain/suppressions/Suppression"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { SuppressionRepositoryPg } from "@outreach/postgres/suppressions/SuppressionRepositoryPg"
import { WithdrawalRepositoryPg } from "@outreach/postgres/suppressions/WithdrawalRepositoryPg"
import { Effect, Layer } from "effect"
import { changing, group, revealing } from "../Declaration.ts"
import { choice, optional, text, textArgument } from "../inputs/Input.ts"
import { listCommand } from "../listCommand.ts"
import { command, inputsOf } from "../operationCommand.ts"
import { quiet, showingProgress } from "../output/Output.ts"
import { erasedClinicians } from "../secretCipher.ts"

const exportEntries = revealing({
  about: "Export suppressions to a new CSV file for `suppressions import`",
  examples: [
    "ops suppressions export --organization org_… --out suppressions.csv",
    "ops suppressions export --organization org_… --reason bounced --out bounces.csv",
  ],
  input: {
    ...inputsOf(suppressionList.filters),
    out: text("Write to this new file, readable only by its owner", "FILE"),
  },
  *run({ out, ...filter }) {
    yield* findScope(filter)
    const { exportSuppressions } = yield* Effect.promise(() => import("../suppressions/exportSuppressions.ts"))
    return { out, entries: yield* exportSuppressions(filter, out) }
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
    return { ...scope, ...(yield* showingProgress(quiet)(importSuppressions(scope, file, options))) }
  },
})

export const suppressions = group({
  about: "Clinicians that a program must not write to",
  commands: {
    create: command(createSuppression),
    list: listCommand(suppressionList),
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
