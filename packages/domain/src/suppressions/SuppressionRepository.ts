import { Context, type Effect } from "effect"
import type { OrganizationId, ProgramId } from "../Identifier.ts"
import type { ProgramNotFound } from "../programs/ProgramRepository.ts"
import type {
  ProgramClinician,
  Suppression,
  SuppressionKind,
  SuppressionReason,
  SuppressionScope,
} from "./Suppression.ts"

/** The key of a suppression within its program. */
export type SuppressionKey = Pick<Suppression, "kind" | "value">

/** Which entries are meant: all conditions must hold. */
export interface SuppressionFilter {
  readonly kind?: SuppressionKind | undefined
  readonly reason?: SuppressionReason | undefined
}

/** Keeps whom each program, and every program of an organization, must not write to. */
export class SuppressionRepository extends Context.Service<
  SuppressionRepository,
  {
    /** Adds entries for each clinician's NPI and e-mail address; returns how many are new. */
    add(
      organizationId: OrganizationId,
      clinicians: ReadonlyArray<ProgramClinician>,
      reason: SuppressionReason,
    ): Effect.Effect<number>
    /**
     * Removes entries of a program and of its organization, or of the organization alone; returns how many there were. Withdrawn recipients stay
     * withdrawn; an import may name them again.
     */
    remove(scope: SuppressionScope, keys: ReadonlyArray<SuppressionKey>): Effect.Effect<number, ProgramNotFound>
    /** Finds the entries that `remove` would remove. */
    find(
      scope: SuppressionScope,
      keys: ReadonlyArray<SuppressionKey>,
    ): Effect.Effect<ReadonlyArray<Suppression>, ProgramNotFound>
    /** Lists the entries that bind a program in the order (kind, value). */
    list(
      programId: ProgramId,
      limit: number,
      filter?: SuppressionFilter,
    ): Effect.Effect<ReadonlyArray<Suppression>, ProgramNotFound>
    /** Lists organizations' entries whose waiting recipients are not withdrawn yet, oldest first; none of frozen organizations. */
    findUnapplied(limit: number): Effect.Effect<ReadonlyArray<Suppression>>
    /** Marks entries of an organization: no recipient whom they match is waiting any more. */
    markApplied(organizationId: OrganizationId, keys: ReadonlyArray<SuppressionKey>): Effect.Effect<void>
  }
>()("domain/suppressions/SuppressionRepository") {}
