import { makeIdentifier } from "@outreach/domain/Identifier"
import { ProgramCatalog } from "@outreach/domain/programs/ProgramCatalog"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { name } from "../inputs/name.ts"
import { organization } from "../inputs/organization.ts"
import { printList, printRecord } from "../output/Output.ts"

const MOST = 2_147_483_647

const target = (flag: string, whom: string) =>
  Flag.Int(flag).pipe(
    Flag.withDescription(`How many ${whom} end the program's outreach (default no quota)`),
    Flag.filter(
      (count) => count >= 1 && count <= MOST,
      () => `a whole number from 1 to ${MOST}`,
    ),
    Flag.optional,
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
    const catalog = yield* ProgramCatalog
    yield* printRecord(
      yield* catalog.create({
        organizationId: input.organization,
        id: yield* makeIdentifier("program"),
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
    const programs = yield* (yield* ProgramCatalog).list(Option.getOrUndefined(input.organization))
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

/** `ops programs …` */
export const programs = Command.make("programs").pipe(
  Command.withDescription("What clinicians are invited to"),
  Command.withSubcommands([create, list]),
)
