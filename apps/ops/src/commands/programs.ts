import { archiveProgram, createProgram, updateProgram } from "@outreach/backoffice/operations/programs"
import { ProgramReader } from "@outreach/backoffice/programs/ProgramReader"
import { complaintLevel } from "@outreach/domain/campaigns/complaintLevel"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { Layer } from "effect"
import { group, reading } from "../Declaration.ts"
import { organizationId } from "../inputs/filters.ts"
import { optional } from "../inputs/Input.ts"
import { command } from "../operationCommand.ts"

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

export const programs = group({
  about: "What clinicians are invited to",
  commands: {
    create: command(createProgram),
    list,
    update: command(updateProgram),
    archive: command(archiveProgram),
  },
  services: Layer.mergeAll(ProgramRepositoryPg, ProgramReader.layer),
})
