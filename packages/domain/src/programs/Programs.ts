import { Effect } from "effect"
import { createIdentifier, type ProgramId } from "../Identifier.ts"
import { inTransaction, Transaction } from "../Transaction.ts"
import { type NewProgram, type ProgramChanges, ProgramInUse, ProgramRepository } from "./ProgramRepository.ts"

/** How many of the campaigns that keep a program from being archived are named. */
const MAX_NAMED = 10

/** Creates a program; by default without targets. */
export const createProgram = Effect.fn("Programs.createProgram")(function* (
  request: Pick<NewProgram, "organizationId" | "slug" | "name"> & Partial<NewProgram>,
) {
  const id = yield* createIdentifier("program")
  return yield* (yield* ProgramRepository).create({ learnerTarget: null, completerTarget: null, ...request, id })
})

/**
 * Changes what is given of a program. It is not archived while campaigns of it are under way.
 *
 * A target counts from the same commit on: one that is reached already ends the program's outreach.
 */
export const updateProgram = Effect.fn("Programs.updateProgram")(function* (
  programId: ProgramId,
  changes: ProgramChanges,
) {
  const programs = yield* ProgramRepository
  const organizationId = yield* programs.lock(programId)
  if (changes.status === "archived") {
    const campaignIds = yield* programs.findUnderWay(organizationId, programId, MAX_NAMED)
    if (campaignIds.length > 0) return yield* new ProgramInUse({ programId, campaignIds })
  }
  const program = yield* programs.update(organizationId, programId, changes)
  if (changes.learnerTarget !== undefined || changes.completerTarget !== undefined) {
    const at = yield* (yield* Transaction).commitTimestamp(organizationId)
    yield* programs.updateTargets(organizationId, programId, at)
  }
  return program
}, inTransaction)
