import { Context, Effect } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { type CampaignId, createIdentifier, type OrganizationId, type ProgramId } from "../Identifier.ts"
import type { OrganizationNotFound } from "../organizations/Organization.ts"
import { type CommitTimestamp, inTransaction, Transaction } from "../Transaction.ts"
import type { Program } from "./Program.ts"

export class ProgramSlugTaken extends DescribedError(
  "ProgramSlugTaken",
  'The organization has a program with the slug "{slug}"; slugs are unique within an organization.',
) {}

export class ProgramNotFound extends DescribedError("ProgramNotFound", "No program {programId}.") {}

export class ProgramArchived extends DescribedError(
  "ProgramArchived",
  "The program {programId} is archived, so no new e-mails are sent.",
) {}

export class ProgramWithoutSender extends DescribedError(
  "ProgramWithoutSender",
  "The program {programId} has no sender name or no postal address, and each of its e-mails must show both. Set them in the program first.",
) {}

export class ProgramInUse extends DescribedError(
  "ProgramInUse",
  ({ programId, campaignIds }: { readonly programId: string; readonly campaignIds: ReadonlyArray<string> }) =>
    `The program ${programId} has campaigns under way, which have to be paused or cancelled first: ${campaignIds.join(", ")}.`,
) {}

/** A program to create; its sender's details may follow later. */
type NewProgram = Omit<Program, "status" | "createdAt" | "updatedAt" | "senderName" | "postalAddress"> &
  Partial<Pick<Program, "senderName" | "postalAddress">>

/** Changeable fields of a program. The slug can't change, because the partner uses it. */
type ProgramChanges = Partial<Pick<Program, "name" | "status" | "learnerTarget" | "completerTarget">> & {
  readonly senderName?: string
  readonly postalAddress?: string
}

export class ProgramRepository extends Context.Service<
  ProgramRepository,
  {
    create(program: NewProgram): Effect.Effect<Program, OrganizationNotFound | ProgramSlugTaken>
    find(programId: ProgramId): Effect.Effect<Program, ProgramNotFound>
    findIds(organizationId: OrganizationId, slugs: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, ProgramId>>
    /** Returns whether a program's completers have reached its target. */
    isQuotaReached(organizationId: OrganizationId, programId: ProgramId): Effect.Effect<boolean>
    countCompleters(organizationId: OrganizationId, programId: ProgramId): Effect.Effect<number>
    /** Locks a program until the transaction ends. Returns its organization. */
    lock(programId: ProgramId): Effect.Effect<OrganizationId, ProgramNotFound>
    /** Finds a program's active campaigns, oldest first. */
    findUnderWay(
      organizationId: OrganizationId,
      programId: ProgramId,
      limit: number,
    ): Effect.Effect<ReadonlyArray<CampaignId>>
    /** Changes the given fields of a locked program. */
    update(organizationId: OrganizationId, programId: ProgramId, changes: ProgramChanges): Effect.Effect<Program>
    /** Updates a program's reached targets after a change. */
    updateTargets(organizationId: OrganizationId, programId: ProgramId, at: CommitTimestamp): Effect.Effect<void>
    /** Lists programs of one organization or all, oldest first. */
    list(organizationId?: OrganizationId): Effect.Effect<ReadonlyArray<Program>>
  }
>()("domain/programs/ProgramRepository") {}

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
