import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { AuditReason } from "@outreach/domain/operators/AuditReason"
import {
  SUPPRESSION_KINDS,
  SUPPRESSION_REASONS,
  type SuppressionScope,
  suppressionKeys,
} from "@outreach/domain/suppressions/Suppression"
import { SuppressionRepository } from "@outreach/domain/suppressions/SuppressionRepository"
import { suppressClinicians } from "@outreach/domain/suppressions/Withdrawals"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { SuppressionRepositoryPg } from "@outreach/postgres/suppressions/SuppressionRepositoryPg"
import { WithdrawalRepositoryPg } from "@outreach/postgres/suppressions/WithdrawalRepositoryPg"
import { Effect, Layer } from "effect"
import { changing, group, revealing } from "../Declaration.ts"
import { clinicianFlags, columnFlags, limit, quiet, readClinician } from "../inputs/filters.ts"
import { choice, flag, optional, textArgument, type Values } from "../inputs/Input.ts"
import { confirm, formatCount, refuse, yes } from "../output/Output.ts"
import { erasedClinicians } from "../secretCipher.ts"

const programId = flag(ProgramId, "The program's id, pgm_…")

const scopeFlags = {
  programId: optional(programId),
  organizationId: optional(
    flag(OrganizationId, "The organization's id, org_…, instead of a program: all of its programs, also those to come"),
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

const add = changing({
  about: "Never let a program, or all of an organization, write to a clinician; withdraws the waiting recipients",
  examples: ["ops suppressions add --program pgm_… --email someone@clinic.example"],
  input: {
    ...scopeFlags,
    ...clinicianFlags,
    reason: optional(flag(AuditReason, "Why nobody may write to the clinician, for the audit log", "text")),
  },
  *run(input) {
    const clinician = yield* readClinician(input)
    const scope = yield* readScope(input)
    return { ...scope, ...(yield* suppressClinicians(scope, [clinician], "operator")) }
  },
})

const remove = changing({
  about:
    "Lift the suppression of an NPI or an address in a program, also one that binds all programs of its organization, or only that one; withdrawn recipients stay withdrawn until a later import names them. Asks first, or needs --yes",
  examples: [
    'ops suppressions remove --program pgm_… --email someone@clinic.example --reason "mailbox restored, ticket 4711"',
  ],
  input: {
    ...scopeFlags,
    ...clinicianFlags,
    reason: flag(AuditReason, "Why the program may write to the clinician again, for the audit log", "text"),
    yes,
  },
  *run(input) {
    const keys = suppressionKeys(yield* readClinician(input))
    const scope = yield* readScope(input)
    const suppressions = yield* SuppressionRepository
    const found = yield* suppressions.find(scope, keys)
    const reasons = found
      .map(({ kind, reason, programId }) => `${kind}: ${reason}${programId === null ? " in all programs" : ""}`)
      .join(", ")
    const owner = scope.programId === undefined ? `organization ${scope.organizationId}` : `program ${scope.programId}`
    yield* confirm(
      `remove ${formatCount(found.length, "suppression")} of ${owner} (${reasons}), so that it may write to the clinician again`,
      { yes: input.yes || found.length === 0, count: found.length },
    )
    return { ...scope, removed: yield* suppressions.remove(scope, keys) }
  },
})

const list = revealing({
  about: "List a program's suppressions with those of its whole organization, by kind and value",
  input: {
    programId,
    kind: optional(choice(SUPPRESSION_KINDS, "Only NPIs, or only addresses")),
    reason: optional(choice(SUPPRESSION_REASONS, "Only those with this reason")),
    limit,
  },
  *run({ programId, limit, ...filter }) {
    const rows = yield* SuppressionRepository.use(({ list }) => list(programId, limit + 1, filter))
    return rows.map((row) => ({ ...row, scope: row.programId === null ? "organization" : "program" }))
  },
  columns: ["kind", "value", "reason", "scope", "createdAt"],
})

const load = changing({
  about: "Suppress everyone in a file; a re-run adds nothing twice",
  examples: ["ops suppressions import --program pgm_… accounts.csv"],
  input: {
    programId,
    ...columnFlags,
    quiet,
    file: textArgument("A delimited text file whose first line names the columns npi, email or both"),
  },
  *run({ programId, file, ...options }) {
    const { importSuppressions } = yield* Effect.promise(() => import("../suppressions/importSuppressions.ts"))
    return { programId, ...(yield* importSuppressions(programId, file, options)) }
  },
})

export const suppressions = group({
  about: "Clinicians that a program must not write to",
  commands: { add, remove, list, import: load },
  services: Layer.mergeAll(
    SuppressionRepositoryPg,
    WithdrawalRepositoryPg,
    ProgramRepositoryPg,
    OrganizationReader.layer,
    erasedClinicians,
  ),
})
