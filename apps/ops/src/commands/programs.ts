import { programs as programList } from "@outreach/backoffice/lists/programs"
import { archiveProgram, createProgram, updateProgram } from "@outreach/backoffice/operations/programs"
import { group } from "../group.ts"

export const programs = group("programs", "What clinicians are invited to", [
  createProgram,
  programList,
  updateProgram,
  archiveProgram,
])
