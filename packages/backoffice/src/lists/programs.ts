import { complaintLevel } from "@outreach/domain/campaigns/Campaign"
import { ProgramId } from "@outreach/domain/Identifier"
import type { Program } from "@outreach/domain/programs/Program"
import { filterBy } from "../operations/Field.ts"
import { ProgramReader } from "../programs/ProgramReader.ts"
import { badge, count, id, inOps, list, type Tone, text } from "./List.ts"

export const PROGRAM_TONES: Readonly<Record<Program["status"], Tone>> = {
  draft: "neutral",
  active: "good",
  paused: "warning",
  archived: "neutral",
}

export const programs = list("programs list", {
  about: "List the programs with the sums of their campaigns, oldest first",
  filters: { organizationId: filterBy.organization },
  cursor: { id: ProgramId },
  *read(filter, { limit, after }) {
    const programs = yield* (yield* ProgramReader).list({ ...filter, after: after?.id }, limit + 1)
    return programs.map((program) => ({ ...program, complaintLevel: complaintLevel(program) }))
  },
  columns: {
    id: inOps,
    organizationId: id("Organization"),
    slug: inOps,
    name: { ...text("Program"), of: ({ id }) => id, note: ({ slug }) => slug },
    senderName: text("Sender name"),
    status: badge("Status", PROGRAM_TONES),
    learnerTarget: count("Learner target"),
    completerTarget: count("Completer target"),
    sent: count("Sent"),
    refusedLater: inOps,
    complained: count("Complained"),
    complaintLevel: inOps,
    unsubscribed: count("Unsubscribed"),
    createdAt: inOps,
  },
  empty: "No programs. Add one to invite clinicians to it by e-mail.",
})
