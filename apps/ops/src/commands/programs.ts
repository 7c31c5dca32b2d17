import { programs as programList } from "@outreach/backoffice/lists/programs"
import { archiveProgram, createProgram, updateProgram } from "@outreach/backoffice/operations/programs"
import { ProgramReader } from "@outreach/backoffice/programs/ProgramReader"
import { ProgramRepositoryPg } from "@outreach/postgres/programs/ProgramRepositoryPg"
import { Layer } from "effect"
import { group } from "../Declaration.ts"
import { listCommand } from "../listCommand.ts"
import { command } from "../operationCommand.ts"

export const programs = group({
  about: "What clinicians are invited to",
  commands: {
    create: command(createProgram),
    list: listCommand(programList),
    update: command(updateProgram),
    archive: command(archiveProgram),
  },
  services: Layer.mergeAll(ProgramRepositoryPg, ProgramReader.layer),
})
