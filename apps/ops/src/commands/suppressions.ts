import { ProgramId } from "@outreach/domain/Identifier"
import { SUPPRESSION_KINDS, SUPPRESSION_REASONS } from "@outreach/domain/suppressions/Suppression"
import { SuppressionRepository } from "@outreach/domain/suppressions/SuppressionRepository"
import { suppressClinicians } from "@outreach/domain/suppressions/Withdrawals"
import { textSchema } from "@outreach/domain/textSchema"
import { OrganizationRepository } from "@outreach/postgres/organizations/OrganizationRepository"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { SuppressionRepositoryPg } from "@outreach/postgres/suppressions/SuppressionRepositoryPg"
import { suppressEarlierBounces } from "@outreach/postgres/suppressions/suppressEarlierBounces"
import { WithdrawalRepositoryPg } from "@outreach/postgres/suppressions/WithdrawalRepositoryPg"
import { TransactionPg } from "@outreach/postgres/TransactionPg"
import { Effect, Layer, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { changing, revealing } from "../audit/Access.ts"
import { erasedClinicians } from "../erasedClinicians.ts"
import { clinicianFlags, readClinician } from "../inputs/clinicianFlags.ts"
import { ignoreColumns, limit, organization } from "../inputs/commonFlags.ts"
import { parsedFlag, switchFlag } from "../inputs/parsedInput.ts"
import { confirm, yes } from "../output/confirm.ts"
import { formatCount } from "../output/format.ts"
import { printPage, printRecord } from "../output/Output.ts"

const program = parsedFlag("program", ProgramId, "The program's id, pgm_…")

const clinician = { program, ...clinicianFlags }

const add = changing(
  "add",
  clinician,
  Effect.fn("ops.suppressions.add")(function* (input) {
    const clinician = yield* readClinician(input)
    const result = yield* suppressClinicians(input.program, [clinician], "operator")
    yield* printRecord({ programId: input.program, ...result })
  }),
).pipe(
  Command.withDescription("Never let a program write to a clinician; withdraws the waiting recipients"),
  Command.withExamples([{ command: "ops suppressions add --program pgm_… --email someone@clinic.example" }]),
)

const MAX_REASON_LENGTH = 200

/** Why a suppression is lifted: the audit log keeps it, and holds no personal data. */
const LiftReason = textSchema(
  `1 to ${MAX_REASON_LENGTH} characters on one line, for the audit log, without an e-mail address or an NPI`,
  (text) => {
    const reason = text.trim()
    const isLine = reason !== "" && reason.length <= MAX_REASON_LENGTH && !/\p{Cc}/u.test(reason)
    return isLine && !/@|\d{10}/.test(reason) ? reason : undefined
  },
)

const remove = changing(
  "remove",
  {
    ...clinician,
    reason: parsedFlag(
      "reason",
      LiftReason,
      "Why the program may write to the clinician again, for the audit log",
    ).pipe(Flag.withMetavar("text")),
    yes,
  },
  Effect.fn("ops.suppressions.remove")(function* (input) {
    const { npi, email } = yield* readClinician(input)
    const keys = [
      ...(npi === null ? [] : [{ kind: "npi" as const, value: npi }]),
      ...(email === null ? [] : [{ kind: "email" as const, value: email }]),
    ]
    const suppressions = yield* SuppressionRepository
    const found = yield* suppressions.find(input.program, keys)
    const reasons = found
      .map(({ kind, reason, programId }) => `${kind}: ${reason}${programId === null ? " in all programs" : ""}`)
      .join(", ")
    yield* confirm(
      `remove ${formatCount(found.length, "suppression")} of program ${input.program} (${reasons}), so that it may write to the clinician again`,
      { yes: input.yes || found.length === 0, count: found.length },
    )
    const removed = yield* suppressions.remove(input.program, keys)
    yield* printRecord({ programId: input.program, removed })
  }),
).pipe(
  Command.withDescription(
    "Lift the suppression of an NPI or an address, also one that binds all programs of the organization; withdrawn recipients stay withdrawn until a later import names them. Asks first, or needs --yes",
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

const backfill = changing(
  "backfill",
  { organization: organization.pipe(Flag.optional) },
  Effect.fn("ops.suppressions.backfill")(function* (input) {
    const repository = yield* OrganizationRepository
    const chosen = Option.isSome(input.organization)
      ? [yield* repository.find(input.organization.value)]
      : (yield* repository.list).filter(({ frozenAt }) => frozenAt === null)
    const report = { organizations: chosen.length, bounces: 0, added: 0 }
    for (const { id } of chosen) {
      const { bounces, added } = yield* suppressEarlierBounces(id)
      report.bounces += bounces
      report.added += added
    }
    yield* printRecord(report)
  }),
).pipe(
  Command.withDescription(
    "Suppress the addresses that bounced for good before this release, in every program of their organization; a re-run adds nothing twice, and brings back what was lifted",
  ),
)

/** `ops suppressions …` */
export const suppressions = Command.make("suppressions").pipe(
  Command.withDescription("Clinicians whom a program must not write to"),
  Command.withSubcommands([add, remove, list, load, backfill]),
  Command.provide(
    Layer.mergeAll(
      SuppressionRepositoryPg,
      WithdrawalRepositoryPg,
      ProgramRepositoryPg,
      TransactionPg,
      OrganizationRepository.layer,
      erasedClinicians,
    ),
  ),
)
