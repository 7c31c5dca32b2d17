import { Effect } from "effect"
import { createIdentifier, type ProgramId } from "../Identifier.ts"
import { inTransaction, Transaction } from "../Transaction.ts"
import { type NewProgram, type ProgramChanges, ProgramInUse, ProgramRepository } from "./ProgramRepository.ts"

/** Maximum number of campaigns listed in the error that prevents archiving. */
const MAX_NAMED = 10

/** Creates a program; default: without targets. */
export const createProgram = Effect.fn("Programs.createProgram")(function* (
  request: Pick<NewProgram, "organizationId" | "slug" | "name"> & Partial<NewProgram>,
) {
  const id = yield* createIdentifier("program")
  return yield* (yield* ProgramRepository).create({ learnerTarget: null, completerTarget: null, ...request, id })
})

/**
 * Changes the given fields of a program. It can't be archived while it has active campaigns.
 *
 * A target applies from the same commit: if it is already reached, the program's outreach ends.
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
