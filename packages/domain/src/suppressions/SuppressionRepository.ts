import { Context, type Effect } from "effect"
import type { OrganizationId } from "../Identifier.ts"
import type { ProgramNotFound } from "../programs/ProgramRepository.ts"
import type {
  ProgramClinician,
  Suppression,
  SuppressionKey,
  SuppressionReason,
  SuppressionScope,
} from "./Suppression.ts"

/** Keeps the suppressions of each program, and of every program of an organization. */
export class SuppressionRepository extends Context.Service<
  SuppressionRepository,
  {
    /** Adds entries for each clinician's NPI and e-mail address; returns how many are new. Those `byUnsubscription` are lifted when it is taken back. */
    add(
      organizationId: OrganizationId,
      clinicians: ReadonlyArray<ProgramClinician>,
      reason: SuppressionReason,
      options?: { readonly byUnsubscription: boolean },
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
    /** Lists organizations' entries whose waiting recipients are not withdrawn yet, oldest first. */
    findUnapplied(limit: number): Effect.Effect<ReadonlyArray<Suppression>>
    /** Marks entries of an organization: none of the recipients that they match waits any more. */
    markApplied(organizationId: OrganizationId, keys: ReadonlyArray<SuppressionKey>): Effect.Effect<void>
  }
>()("domain/suppressions/SuppressionRepository") {}
