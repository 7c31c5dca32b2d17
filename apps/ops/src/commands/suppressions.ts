import { formatCounted } from "@outreach/backoffice/format"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { type SuppressionListFilter, SuppressionReader } from "@outreach/backoffice/suppressions/SuppressionReader"
import { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { AuditReason } from "@outreach/domain/operators/AuditReason"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { ErasedClinicianRepository } from "@outreach/domain/suppressions/ErasedClinicianRepository"
import {
  SUPPRESSION_KINDS,
  SUPPRESSION_REASONS,
  type SuppressionScope,
  suppressionKeys,
} from "@outreach/domain/suppressions/Suppression"
import { SuppressionRepository } from "@outreach/domain/suppressions/SuppressionRepository"
import { suppressClinicians } from "@outreach/domain/suppressions/Withdrawals"
import { Timestamp } from "@outreach/domain/Timestamp"
import { wholeNumber } from "@outreach/domain/textSchema"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { SuppressionRepositoryPg } from "@outreach/postgres/suppressions/SuppressionRepositoryPg"
import { WithdrawalRepositoryPg } from "@outreach/postgres/suppressions/WithdrawalRepositoryPg"
import { Effect, Layer } from "effect"
import { changing, group, revealing } from "../Declaration.ts"
import { clinicianFlags, columnFlags, organizationId, period, quiet, readClinician } from "../inputs/filters.ts"
import { choice, described, flag, optional, text, textArgument, type Values } from "../inputs/Input.ts"
import { confirm, refuse, showingImport, yes } from "../output/Output.ts"
import { erasedClinicians } from "../secretCipher.ts"

const programId = flag(ProgramId, "The program's id, pgm_…")

const scopeFlags = {
  programId: optional(programId),
  organizationId: optional(
    flag(OrganizationId, "The organization's id, org_…, instead of a program: all current and future programs"),
  ),
}

const readScope = Effect.fnUntraced(function* ({ programId, organizationId }: Values<typeof scopeFlags>) {
  if (programId !== undefined && organizationId === undefined) return { programId } satisfies SuppressionScope
  if (organizationId === undefined || programId !== undefined) {
    return yield* refuse(
      "UnclearScope",
      "Name either a program with --program, or with --organization the one whose programs are all meant.",
    )
  }
  yield* OrganizationReader.use(({ find }) => find(organizationId))
  return { organizationId } satisfies SuppressionScope
})

const create = changing({
  about: "Suppress a clinician for a program or an organization; withdraws pending recipients",
  examples: ["ops suppressions create --program pgm_… --email someone@clinic.example"],
  input: {
    ...scopeFlags,
    ...clinicianFlags,
    reason: optional(flag(AuditReason, "The reason, for the audit log", "text")),
  },
  *run(input) {
    const clinician = yield* readClinician(input)
    const scope = yield* readScope(input)
    return { ...scope, ...(yield* suppressClinicians(scope, [clinician], "operator")) }
  },
})

const remove = changing({
  about:
    "Remove the suppression of an NPI or address for a program, including one for the whole organization, or only the latter. Withdrawn recipients stay withdrawn until a later import. Requires confirmation or --yes",
  examples: [
    'ops suppressions remove --program pgm_… --email someone@clinic.example --reason "mailbox restored, ticket 4711"',
  ],
  input: {
    ...scopeFlags,
    ...clinicianFlags,
    reason: flag(AuditReason, "The reason, for the audit log", "text"),
    yes,
  },
  *run(input) {
    const clinician = yield* readClinician(input)
    const keys = suppressionKeys(clinician)
    const scope = yield* readScope(input)
    const suppressions = yield* SuppressionRepository
    const found = yield* suppressions.find(scope, keys)
    const reasons = found
      .map(({ kind, reason, programId }) => `${kind}: ${reason}${programId === null ? " in all programs" : ""}`)
      .join(", ")
    const owner = scope.programId === undefined ? `organization ${scope.organizationId}` : `program ${scope.programId}`
    yield* confirm(
      `remove ${formatCounted(found.length, "suppression")} of ${owner} (${reasons}), so that it may write to the clinician again`,
      { yes: input.yes || found.length === 0, count: found.length },
    )
    const removed = yield* suppressions.remove(scope, keys)
    const { organizationId } =
      scope.programId === undefined ? scope : yield* (yield* ProgramRepository).find(scope.programId)
    const erasedIn = yield* (yield* ErasedClinicianRepository).organizationsOf(clinician, organizationId)
    return { ...scope, removed, isErased: erasedIn.length > 0 }
  },
  note: ({ isErased }) =>
    isErased ? "The clinician was erased, and stays suppressed in all programs of the organization." : undefined,
})

const entryFilter = {
  programId: optional(described(programId, "Only those for this program, including those for its whole organization")),
  organizationId: optional(
    described(organizationId, "Only those of this organization, for single programs and for all of them"),
  ),
  kind: optional(choice(SUPPRESSION_KINDS, "Only NPIs, or only addresses")),
  reason: optional(choice(SUPPRESSION_REASONS, "Only those with this reason")),
}

const readFilter = Effect.fnUntraced(function* ({ programId, organizationId, ...filter }: SuppressionListFilter) {
  if (programId === undefined) {
    if (organizationId !== undefined) yield* OrganizationReader.use(({ find }) => find(organizationId))
    return { ...filter, organizationId } satisfies SuppressionListFilter
  }
  const program = yield* (yield* ProgramRepository).find(programId)
  if (organizationId !== undefined && organizationId !== program.organizationId) {
    return yield* refuse("ForeignProgram", `The program ${programId} is not one of the organization ${organizationId}.`)
  }
  return {
    ...filter,
    programId,
    organizationId: program.organizationId,
    ofOrganization: "too",
  } satisfies SuppressionListFilter
})

const list = revealing({
  about: "List suppressions, newest first, each with its program or organization",
  examples: ["ops suppressions list --organization org_… --reason bounced"],
  input: { ...entryFilter, ...period("Only those created") },
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
    ...entryFilter,
    out: text("Write to this new file, readable only by its owner", "FILE"),
  },
  *run({ out, ...input }) {
    if (input.programId === undefined && input.organizationId === undefined) {
      return yield* refuse("UnclearScope", "Name the organization with --organization, or a program with --program.")
    }
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
    ...scopeFlags,
    reason: optional(
      choice(SUPPRESSION_REASONS, "The reason for all lines (default: the reason of each line, or operator)"),
    ),
    ...columnFlags,
    quiet,
    file: textArgument("A delimited text file whose first line names the columns npi, email or both"),
  },
  *run({ file, reason, map, ignoreColumns, quiet, ...input }) {
    const scope = yield* readScope(input)
    const { importSuppressions } = yield* Effect.promise(() => import("../suppressions/importSuppressions.ts"))
    const options = { ignoreColumns, ...(map && { map }), ...(reason && { reason }) }
    return { ...scope, ...(yield* showingImport(quiet)(importSuppressions(scope, file, options))) }
  },
})

export const suppressions = group({
  about: "Clinicians that a program must not write to",
  commands: { create, list, remove, import: load, export: exportEntries },
  services: Layer.mergeAll(
    SuppressionRepositoryPg,
    WithdrawalRepositoryPg,
    ProgramRepositoryPg,
    OrganizationReader.layer,
    SuppressionReader.layer,
    erasedClinicians,
  ),
})
