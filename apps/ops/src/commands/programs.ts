import { DisplayName } from "@outreach/domain/DisplayName"
import { createIdentifier, ProgramId } from "@outreach/domain/Identifier"
import { WHEN_REACHED } from "@outreach/domain/programs/Program"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { updateProgram } from "@outreach/domain/programs/Programs"
import { noneOr, wholeNumber } from "@outreach/domain/textSchema"
import { DigestRepositoryPg } from "@outreach/postgres/digest/DigestRepositoryPg"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { TransactionPg } from "@outreach/postgres/TransactionPg"
import { Effect, Layer, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { changing, reading } from "../audit/Access.ts"
import { organization } from "../inputs/commonFlags.ts"
import { NothingToUpdate } from "../inputs/NothingToUpdate.ts"
import { parsedArgument, parsedFlag, wholeNumberFlag } from "../inputs/parsedInput.ts"
import { pickDefined } from "../inputs/pickDefined.ts"
import { printList, printRecord } from "../output/Output.ts"

const MAX_TARGET = 2_147_483_647

const TARGETS = {
  "learner-target": `How many learners are wanted. When the target is reached, ${WHEN_REACHED.learner_qualified}`,
  "completer-target": `How many completers are wanted. When the target is reached, ${WHEN_REACHED.completer_qualified}`,
} as const

const target = (flag: keyof typeof TARGETS) =>
  wholeNumberFlag(flag, 1, MAX_TARGET, `${TARGETS[flag]} (default no target)`).pipe(Flag.optional)

const program = parsedArgument("program", ProgramId, "The program's id, pgm_…")

const Slug = Schema.String.check(Schema.isPattern(/^[\w.~-]{1,100}$/)).annotate({
  expected: "1 to 100 letters, digits and - _ . ~",
})

const senderName = parsedFlag(
  "sender-name",
  DisplayName,
  "Who sends the program's e-mails, which each of them shows",
).pipe(Flag.optional)

const postalAddress = parsedFlag(
  "postal-address",
  DisplayName,
  'The sender\'s postal address, which each e-mail shows, such as "1 Main Street, Springfield, IL 62701"',
).pipe(Flag.optional)

const create = changing(
  "create",
  {
    organization,
    slug: parsedFlag("slug", Slug, "The name that the partner uses on the wire, such as heart-failure"),
    name: parsedFlag("name", DisplayName, "The program's name for people"),
    senderName,
    postalAddress,
    learnerTarget: target("learner-target"),
    completerTarget: target("completer-target"),
  },
  Effect.fn("ops.programs.create")(function* (input) {
    const repository = yield* ProgramRepository
    yield* printRecord(
      yield* repository.create({
        organizationId: input.organization,
        id: yield* createIdentifier("program"),
        slug: input.slug,
        name: input.name,
        senderName: Option.getOrNull(input.senderName),
        postalAddress: Option.getOrNull(input.postalAddress),
        learnerTarget: Option.getOrNull(input.learnerTarget),
        completerTarget: Option.getOrNull(input.completerTarget),
      }),
    )
  }),
).pipe(Command.withDescription("Add a program of an organization"))

const list = reading(
  "list",
  { organization: organization.pipe(Flag.optional) },
  Effect.fn("ops.programs.list")(function* (input) {
    const programs = yield* (yield* ProgramRepository).list(Option.getOrUndefined(input.organization))
    yield* printList(programs, [
      "id",
      "organizationId",
      "slug",
      "name",
      "senderName",
      "status",
      "learnerTarget",
      "completerTarget",
      "createdAt",
    ])
  }),
).pipe(Command.withDescription("List the programs, oldest first; of one organization or of all"))

const NewTarget = noneOr(wholeNumber(1, MAX_TARGET), `none, or a whole number from 1 to ${MAX_TARGET}`)

const newTarget = (flag: keyof typeof TARGETS) =>
  parsedFlag(flag, NewTarget, `${TARGETS[flag]}; or none`).pipe(Flag.optional)

const update = changing(
  "update",
  {
    program,
    name: parsedFlag("name", DisplayName, "The program's name for people").pipe(Flag.optional),
    senderName,
    postalAddress,
    status: Flag.Literals("status", ["draft", "active", "paused"]).pipe(
      Flag.withDescription(
        "The status that the partner reads; it stops no campaign, and reactivates an archived program",
      ),
      Flag.optional,
    ),
    learnerTarget: newTarget("learner-target"),
    completerTarget: newTarget("completer-target"),
  },
  Effect.fn("ops.programs.update")(function* ({ program, ...input }) {
    const changes = pickDefined(input)
    if (Object.keys(changes).length === 0) {
      return yield* new NothingToUpdate({
        flags: ["--name", "--sender-name", "--postal-address", "--status", "--learner-target", "--completer-target"],
      })
    }
    yield* printRecord(yield* updateProgram(program, changes))
  }),
).pipe(Command.withDescription("Change a program; its slug cannot change, because the partner uses it on the wire"))

const archive = changing(
  "archive",
  { program },
  Effect.fn("ops.programs.archive")(function* ({ program }) {
    yield* printRecord(yield* updateProgram(program, { status: "archived" }))
  }),
).pipe(
  Command.withDescription(
    "Archive a program: its campaigns can no longer be created or scheduled. `programs update --status active` reactivates it",
  ),
)

/** `ops programs …` */
export const programs = Command.make("programs").pipe(
  Command.withDescription("What clinicians are invited to"),
  Command.withSubcommands([create, list, update, archive]),
  Command.provide(Layer.mergeAll(ProgramRepositoryPg, DigestRepositoryPg, TransactionPg)),
)
