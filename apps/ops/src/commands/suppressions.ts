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
import { suppressByOperator } from "@outreach/domain/suppressions/Withdrawals"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { SuppressionRepositoryPg } from "@outreach/postgres/suppressions/SuppressionRepositoryPg"
import { WithdrawalRepositoryPg } from "@outreach/postgres/suppressions/WithdrawalRepositoryPg"
import { TransactionPg } from "@outreach/postgres/TransactionPg"
import { Effect, Layer, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { changing, revealing } from "../audit/Access.ts"
import { erasedClinicians } from "../erasedClinicians.ts"
import { clinicianFlags, readClinician } from "../inputs/clinicianFlags.ts"
import { ignoreColumns, limit } from "../inputs/commonFlags.ts"
import { parsedFlag, switchFlag } from "../inputs/parsedInput.ts"
import { confirm, yes } from "../output/confirm.ts"
import { formatCount } from "../output/format.ts"
import { printPage, printRecord } from "../output/Output.ts"

const program = parsedFlag("program", ProgramId, "The program's id, pgm_…")

/** The command line names no program and no organization, or both. */
class UnclearScope extends Schema.TaggedError<UnclearScope>()("UnclearScope", {}) {
  override get message(): string {
    return "Name either a program with --program, or with --organization the one whose programs are all meant."
  }
}

const scopeAndClinician = {
  program: Flag.optional(program),
  organization: parsedFlag(
    "organization",
    OrganizationId,
    "The organization's id, org_…, instead of a program: all of its programs, also those to come",
  ).pipe(Flag.optional),
  ...clinicianFlags,
}

const readScope = Effect.fnUntraced(function* (input: {
  readonly program: Option.Option<ProgramId>
  readonly organization: Option.Option<OrganizationId>
}) {
  const programId = Option.getOrUndefined(input.program)
  const organizationId = Option.getOrUndefined(input.organization)
  if (programId !== undefined && organizationId === undefined) return { programId } satisfies SuppressionScope
  if (organizationId === undefined || programId !== undefined) return yield* new UnclearScope()
  yield* (yield* OrganizationReader).find(organizationId)
  return { organizationId } satisfies SuppressionScope
})

const add = changing(
  "add",
  {
    ...scopeAndClinician,
    reason: parsedFlag("reason", AuditReason, "Why nobody may write to the clinician, for the audit log").pipe(
      Flag.withMetavar("text"),
      Flag.optional,
    ),
  },
  Effect.fn("ops.suppressions.add")(function* (input) {
    const clinician = yield* readClinician(input)
    const scope = yield* readScope(input)
    yield* printRecord({ ...scope, ...(yield* suppressByOperator(scope, [clinician])) })
  }),
).pipe(
  Command.withDescription(
    "Never let a program, or all of an organization, write to a clinician; withdraws the waiting recipients",
  ),
  Command.withExamples([{ command: "ops suppressions add --program pgm_… --email someone@clinic.example" }]),
)

const remove = changing(
  "remove",
  {
    ...scopeAndClinician,
    reason: parsedFlag(
      "reason",
      AuditReason,
      "Why the program may write to the clinician again, for the audit log",
    ).pipe(Flag.withMetavar("text")),
    yes,
  },
  Effect.fn("ops.suppressions.remove")(function* (input) {
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
    const removed = yield* suppressions.remove(scope, keys)
    yield* printRecord({ ...scope, removed })
  }),
).pipe(
  Command.withDescription(
    "Lift the suppression of an NPI or an address in a program, also one that binds all programs of its organization, or only that one; withdrawn recipients stay withdrawn until a later import names them. Asks first, or needs --yes",
  ),
  Command.withExamples([
    {
      command:
        'ops suppressions remove --program pgm_… --email someone@clinic.example --reason "mailbox restored, ticket 4711"',
    },
  ]),
)

const list = revealing(
  "list",
  {
    program,
    kind: Flag.Literals("kind", SUPPRESSION_KINDS).pipe(
      Flag.withDescription("Only NPIs, or only addresses"),
      Flag.optional,
    ),
    reason: Flag.Literals("reason", SUPPRESSION_REASONS).pipe(
      Flag.withDescription("Only those with this reason"),
      Flag.optional,
    ),
    limit,
  },
  Effect.fn("ops.suppressions.list")(function* ({ program, kind, reason, limit }) {
    const repository = yield* SuppressionRepository
    const filter = { kind: Option.getOrUndefined(kind), reason: Option.getOrUndefined(reason) }
    const rows = yield* repository.list(program, limit + 1, filter)
    const shown = rows.map((row) => ({ ...row, scope: row.programId === null ? "organization" : "program" }))
    yield* printPage(shown, limit, ["kind", "value", "reason", "scope", "createdAt"])
  }),
).pipe(Command.withDescription("List a program's suppressions with those of its whole organization, by kind and value"))

const load = changing(
  "import",
  {
    program,
    ignoreColumns,
    quiet: switchFlag("quiet", "Show no progress"),
    file: Argument.String("file").pipe(
      Argument.withDescription("A CSV file in UTF-8 whose first line names the columns npi, email or both"),
    ),
  },
  Effect.fn("ops.suppressions.import")(function* ({ program, file, ...options }) {
    const { importSuppressions } = yield* Effect.promise(() => import("../suppressions/importSuppressions.ts"))
    const report = yield* importSuppressions(program, file, options)
    yield* printRecord({ programId: program, ...report })
  }),
).pipe(
  Command.withDescription("Suppress everyone in a file; a re-run adds nothing twice"),
  Command.withExamples([{ command: "ops suppressions import --program pgm_… accounts.csv" }]),
)

/** `ops suppressions …` */
export const suppressions = Command.make("suppressions").pipe(
  Command.withDescription("Clinicians whom a program must not write to"),
  Command.withSubcommands([add, remove, list, load]),
  Command.provide(
    Layer.mergeAll(
      SuppressionRepositoryPg,
      WithdrawalRepositoryPg,
      ProgramRepositoryPg,
      TransactionPg,
      OrganizationReader.layer,
      erasedClinicians,
    ),
  ),
)
