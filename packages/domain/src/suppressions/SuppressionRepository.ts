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

/** Stores the suppressions of programs and organizations. */
export class SuppressionRepository extends Context.Service<
  SuppressionRepository,
  {
    /** Adds entries for each clinician's NPI and e-mail address. Returns the number of new ones. */
    add(
      organizationId: OrganizationId,
      clinicians: ReadonlyArray<ProgramClinician>,
      reason: SuppressionReason,
      options?: {
        /** Whether they end when the recipient undoes an unsubscription; default false. */
        readonly byUnsubscription?: boolean
        /** Whether the transaction withdraws the waiting recipients; otherwise `findUnapplied` lists the organization's entries. Default true. */
        readonly isApplied?: boolean
      },
    ): Effect.Effect<number>
    /**
     * Removes entries of a program and its organization, or only of the organization. Returns their number. Withdrawn recipients stay
     * withdrawn; an import may add them again.
     */
    remove(scope: SuppressionScope, keys: ReadonlyArray<SuppressionKey>): Effect.Effect<number, ProgramNotFound>
    /** Finds the entries that `remove` would remove. */
    find(
      scope: SuppressionScope,
      keys: ReadonlyArray<SuppressionKey>,
    ): Effect.Effect<ReadonlyArray<Suppression>, ProgramNotFound>
    /** Lists organizations' entries with waiting recipients that aren't withdrawn yet, oldest first. */
    findUnapplied(limit: number): Effect.Effect<ReadonlyArray<Suppression>>
    /** Marks an organization's entries: no matching recipients are waiting any more. */
    markApplied(organizationId: OrganizationId, keys: ReadonlyArray<SuppressionKey>): Effect.Effect<void>
  }
>()("domain/suppressions/SuppressionRepository") {}
