import { ProgramReader } from "@outreach/backoffice/programs/ProgramReader"
import { complaintLevel } from "@outreach/domain/campaigns/complaintLevel"
import { DisplayName } from "@outreach/domain/DisplayName"
import { ProgramId } from "@outreach/domain/Identifier"
import { MAX_TARGET, ProgramSlug, WHEN_REACHED } from "@outreach/domain/programs/Program"
import { createProgram, updateProgram } from "@outreach/domain/programs/Programs"
import * as text from "@outreach/domain/textSchema"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { Layer } from "effect"
import { changing, group, reading } from "../Declaration.ts"
import { organizationId } from "../inputs/filters.ts"
import { argument, choice, flag, optional, wholeNumber } from "../inputs/Input.ts"

const TARGETS = {
  learner: `Target of learners. When it is reached, ${WHEN_REACHED.learner_qualified}`,
  completer: `Target of completers. When it is reached, ${WHEN_REACHED.completer_qualified}`,
} as const

const programId = argument(ProgramId, "The program's id, pgm_…")

const name = flag(DisplayName, "The program's name for people")

/** The sender's flags of new and changed programs. */
const senderFlags = {
  senderName: optional(flag(DisplayName, "The sender's name, shown in each e-mail")),
  postalAddress: optional(
    flag(
      DisplayName,
      'The sender\'s postal address, shown in each e-mail, such as "1 Main Street, Springfield, IL 62701"',
    ),
  ),
}

const target = (stage: keyof typeof TARGETS) =>
  optional(wholeNumber(1, MAX_TARGET, `${TARGETS[stage]} (default no target)`))

const create = changing({
  about: "Add a program of an organization",
  examples: ['ops programs create --organization org_… --slug heart-failure --name "Heart failure"'],
  input: {
    organizationId,
    slug: flag(ProgramSlug, "The slug in the API, such as heart-failure"),
    name,
    ...senderFlags,
    learnerTarget: target("learner"),
    completerTarget: target("completer"),
  },
  run: (input) => createProgram(input),
})

const list = reading({
  about: "List the programs with the sums of their campaigns, oldest first, of one organization or all",
  input: { organizationId: optional(organizationId) },
  *run({ organizationId }) {
    const programs = yield* ProgramReader.use(({ list }) => list({ organizationId }))
    return programs.map((program) => ({ ...program, complaintLevel: complaintLevel(program) }))
  },
  columns: [
    "id",
    "organizationId",
    "slug",
    "name",
    "senderName",
    "status",
    "learnerTarget",
    "completerTarget",
    "sent",
    "refusedLater",
    "complained",
    "complaintLevel",
    "unsubscribed",
    "createdAt",
  ],
})

const NewTarget = text.noneOr(text.wholeNumber(1, MAX_TARGET), `none, or a whole number from 1 to ${MAX_TARGET}`)

const newTarget = (stage: keyof typeof TARGETS) => optional(flag(NewTarget, `${TARGETS[stage]}; or none`))

const update = changing({
  about: "Change a program, but not its slug, which the partner uses",
  examples: ["ops programs update pgm_… --status paused", "ops programs update pgm_… --completer-target none"],
  input: {
    programId,
    changes: {
      name: optional(name),
      ...senderFlags,
      status: optional(
        choice(
          ["draft", "active", "paused"],
          "The status shown to the partner; doesn't stop campaigns. Reactivates an archived program",
        ),
      ),
      learnerTarget: newTarget("learner"),
      completerTarget: newTarget("completer"),
    },
  },
  run: ({ programId, changes }) => updateProgram(programId, changes),
})

const archive = changing({
  about:
    "Archive a program: no new campaigns can be created or scheduled. `programs update --status active` reactivates it",
  input: { programId },
  run: ({ programId }) => updateProgram(programId, { status: "archived" }),
})

export const programs = group({
  about: "What clinicians are invited to",
  commands: { create, list, update, archive },
  services: Layer.mergeAll(ProgramRepositoryPg, ProgramReader.layer),
})
