import { createIdentifier } from "@outreach/domain/Identifier"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { identifier } from "../inputs/identifier.ts"
import { NothingToUpdate } from "../inputs/NothingToUpdate.ts"
import { name } from "../inputs/name.ts"
import { organization } from "../inputs/organization.ts"
import { pickDefined } from "../inputs/pickDefined.ts"
import { printList, printRecord } from "../output/Output.ts"

const MAX_TARGET = 2_147_483_647

const target = (flag: string, noun: string) =>
  Flag.Int(flag).pipe(
    Flag.withDescription(`How many ${noun} end the program's outreach (default no quota)`),
    Flag.filter(
      (count) => count >= 1 && count <= MAX_TARGET,
      () => `a whole number from 1 to ${MAX_TARGET}`,
    ),
    Flag.optional,
  )

const program = Argument.String("program").pipe(
  Argument.withDescription("The program's id, pgm_…"),
  Argument.filterMap(...identifier("program")),
)

const create = Command.make(
  "create",
  {
    organization,
    slug: Flag.String("slug").pipe(
      Flag.withDescription("The name that the partner uses on the wire, such as heart-failure"),
      Flag.filter(
        (slug) => /^[\w.~-]{1,100}$/.test(slug),
        () => "1 to 100 letters, digits and - _ . ~",
      ),
    ),
    name: Flag.String("name").pipe(Flag.withDescription("The program's name for people"), Flag.filterMap(...name)),
    learnerTarget: target("learner-target", "learners"),
    completerTarget: target("completer-target", "completers"),
  },
  Effect.fn("ops.programs.create")(function* (input) {
    const repository = yield* ProgramRepository
    yield* printRecord(
      yield* repository.create({
        organizationId: input.organization,
        id: yield* createIdentifier("program"),
        slug: input.slug,
        name: input.name,
        learnerTarget: Option.getOrNull(input.learnerTarget),
        completerTarget: Option.getOrNull(input.completerTarget),
      }),
    )
  }),
).pipe(Command.withDescription("Add a program of an organization"))

const list = Command.make(
  "list",
  { organization: organization.pipe(Flag.optional) },
  Effect.fn("ops.programs.list")(function* (input) {
    const programs = yield* (yield* ProgramRepository).list(Option.getOrUndefined(input.organization))
    yield* printList(programs, [
      "id",
      "organizationId",
      "slug",
      "name",
      "status",
      "learnerTarget",
      "completerTarget",
      "createdAt",
    ])
  }),
).pipe(Command.withDescription("List the programs, oldest first; of one organization or of all"))

const newTarget = (flag: string, noun: string) =>
  Flag.String(flag).pipe(
    Flag.withDescription(`How many ${noun} end the program's outreach, or none`),
    Flag.filterMap(
      (text): Option.Option<number | null> => {
        if (text === "none") return Option.some(null)
        return /^[1-9]\d{0,9}$/.test(text) && Number(text) <= MAX_TARGET ? Option.some(Number(text)) : Option.none()
      },
      () => `none, or a whole number from 1 to ${MAX_TARGET}`,
    ),
    Flag.optional,
  )

const update = Command.make(
  "update",
  {
    program,
    name: Flag.String("name").pipe(
      Flag.withDescription("The program's name for people"),
      Flag.filterMap(...name),
      Flag.optional,
    ),
    status: Flag.Literals("status", ["draft", "active", "paused"]).pipe(
      Flag.withDescription(
        "The status that the partner reads; it stops no campaign, and reactivates an archived program",
      ),
      Flag.optional,
    ),
    learnerTarget: newTarget("learner-target", "learners"),
    completerTarget: newTarget("completer-target", "completers"),
  },
  Effect.fn("ops.programs.update")(function* ({ program, ...input }) {
    const changes = pickDefined(input)
    if (Object.keys(changes).length === 0) {
      return yield* new NothingToUpdate({ flags: ["--name", "--status", "--learner-target", "--completer-target"] })
    }
    yield* printRecord(yield* (yield* ProgramRepository).update(program, changes))
  }),
).pipe(Command.withDescription("Change a program; its slug cannot change, because the partner uses it on the wire"))

const archive = Command.make(
  "archive",
  { program },
  Effect.fn("ops.programs.archive")(function* ({ program }) {
    yield* printRecord(yield* (yield* ProgramRepository).update(program, { status: "archived" }))
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
  Command.provide(ProgramRepositoryPg),
)
