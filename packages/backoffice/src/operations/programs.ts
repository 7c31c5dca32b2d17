import { complaintLevel } from "@outreach/domain/campaigns/Campaign"
import { ProgramId } from "@outreach/domain/Identifier"
import { MAX_TARGET, type Program, ProgramSlug, WHEN_REACHED } from "@outreach/domain/programs/Program"
import * as Programs from "@outreach/domain/programs/Programs"
import { ProgramRepository } from "@outreach/domain/programs/Programs"
import { DisplayName, noneOr, wholeNumber } from "@outreach/domain/textSchema"
import { countOrNone } from "../format.ts"
import { ProgramReader } from "../programs/ProgramReader.ts"
import { choice, field, filterBy, organizationId, required } from "./Field.ts"
import { badge, count, id, inOps, list, type Tones, text } from "./List.ts"
import { operation } from "./Operation.ts"

export const PROGRAM_TONES: Tones<Program["status"]> = { active: "good", paused: "warning" }

export const programs = list("programs list", {
  about: "List the programs with the sums of their campaigns, oldest first",
  filters: { organizationId: filterBy.organization },
  cursor: { id: ProgramId },
  *read(filter, { limit, after }) {
    const programs = yield* (yield* ProgramReader).list({ ...filter, after: after?.id }, limit + 1)
    return programs.map((program) => ({ ...program, complaintLevel: complaintLevel(program) }))
  },
  columns: {
    ...inOps("id"),
    organizationId: id("Organization"),
    ...inOps("slug"),
    name: { ...text("Program"), of: ({ id }) => id, note: ({ slug }) => slug },
    senderName: text("Sender name"),
    status: badge("Status", PROGRAM_TONES),
    learnerTarget: count("Learner target"),
    completerTarget: count("Completer target"),
    sent: count("Sent"),
    ...inOps("refusedLater"),
    complained: count("Complained"),
    ...inOps("complaintLevel"),
    unsubscribed: count("Unsubscribed"),
    ...inOps("createdAt"),
  },
  empty: "No programs to invite clinicians to.",
  filledBy: "programs create",
})

const Target = noneOr(wholeNumber(1, MAX_TARGET), `none, or a whole number from 1 to ${MAX_TARGET}`)

const target = (label: string, whenReached: string) =>
  field(Target, label, { hint: `Or none. When it is reached, ${whenReached}`, size: 10 })

const name = field(DisplayName, "Name", {
  hint: "Shown to operators and in e-mails",
  example: "Heart failure",
  size: 32,
})

const details = {
  senderName: field(DisplayName, "Sender name", { hint: "Shown in each e-mail; required for campaigns", size: 32 }),
  postalAddress: field(DisplayName, "Postal address", {
    hint: 'Shown in each e-mail, such as "1 Main Street, Springfield, IL 62701"; required for campaigns',
    size: 40,
  }),
  learnerTarget: target("Learner target", WHEN_REACHED.learner_qualified),
  completerTarget: target("Completer target", WHEN_REACHED.completer_qualified),
}

export const createProgram = operation("programs create", {
  role: "operator",
  about: "Add a program of an organization",
  label: "Add the program",
  input: {
    organizationId,
    slug: required(
      field(ProgramSlug, "Slug", {
        hint: "Identifier for the partner; can't be changed later",
        example: "heart-failure",
        size: 32,
      }),
    ),
    name: required(name),
    ...details,
  },
  faults: { ProgramSlugTaken: "slug", OrganizationNotFound: "organizationId" },
  run: Programs.createProgram,
  done: () => "Added. Create a campaign to send e-mails.",
})

export const updateProgram = operation("programs update", {
  role: "operator",
  about: "Change a program, but not its slug, which the partner uses",
  label: "Change the program",
  of: { programId: ProgramId },
  input: {
    name,
    ...details,
    status: choice("Status", ["draft", "active", "paused"], {
      hint: "Shown to the partner. Campaigns continue. Reactivates an archived program",
    }),
  },
  isPartial: true,
  find: ({ programId }) => ProgramRepository.use(({ find }) => find(programId)),
  versionOf: ({ updatedAt }) => updatedAt,
  texts: (program) => ({
    name: program.name,
    senderName: program.senderName ?? undefined,
    postalAddress: program.postalAddress ?? undefined,
    learnerTarget: countOrNone(program.learnerTarget),
    completerTarget: countOrNone(program.completerTarget),
    status: program.status,
  }),
  run: ({ programId, ...changes }) => Programs.updateProgram(programId, changes),
  done: () => "Saved.",
  examples: ["ops programs update pgm_… --completer-target none"],
})

export const archiveProgram = operation("programs archive", {
  role: "operator",
  about: "Archive a program: no new campaigns can be created or scheduled. Set its status to active to reactivate it",
  label: "Archive",
  of: { programId: ProgramId },
  run: ({ programId }) => Programs.updateProgram(programId, { status: "archived" }),
  done: () => "Archived. New campaigns can't be created or scheduled.",
})
