import { Effect } from "effect"
import type { ProgramId } from "../Identifier.ts"
import { inTransaction, Transaction } from "../Transaction.ts"
import { type ProgramChanges, ProgramInUse, ProgramRepository } from "./ProgramRepository.ts"

/** How many of the campaigns that keep a program from being archived are named. */
const MAX_NAMED = 10

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
