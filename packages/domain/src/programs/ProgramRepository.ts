import { Context, type Effect } from "effect"
import { DescribedError } from "../DescribedError.ts"
import type { CampaignId, OrganizationId, ProgramId } from "../Identifier.ts"
import type { OrganizationNotFound } from "../organizations/Organization.ts"
import type { CommitTimestamp } from "../Transaction.ts"
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
export type NewProgram = Omit<Program, "status" | "createdAt" | "updatedAt" | "senderName" | "postalAddress"> &
  Partial<Pick<Program, "senderName" | "postalAddress">>

/** Changeable fields of a program. The slug can't change, because the partner uses it. */
export type ProgramChanges = Partial<Pick<Program, "name" | "status" | "learnerTarget" | "completerTarget">> & {
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
