import { Context, type Effect } from "effect"
import type { OrganizationId, ProgramId } from "../Identifier.ts"
import type { ProgramNotFound } from "../programs/ProgramRepository.ts"
import type { ProgramClinician, Suppression, SuppressionKind, SuppressionReason } from "./Suppression.ts"

/** The key of a suppression within its program. */
export type SuppressionKey = Pick<Suppression, "kind" | "value">

/** Keeps whom each program must not write to. */
export class SuppressionRepository extends Context.Service<
  SuppressionRepository,
  {
    /** Adds entries for each clinician's NPI and e-mail address; returns how many are new. */
    add(
      organizationId: OrganizationId,
      clinicians: ReadonlyArray<ProgramClinician>,
      reason: SuppressionReason,
    ): Effect.Effect<number>
    /** Removes entries; returns how many there were. Who was withdrawn stays so; an import may name them again. */
    remove(programId: ProgramId, keys: ReadonlyArray<SuppressionKey>): Effect.Effect<number, ProgramNotFound>
    /** Finds the entries of these keys. */
    find(
      programId: ProgramId,
      keys: ReadonlyArray<SuppressionKey>,
    ): Effect.Effect<ReadonlyArray<Suppression>, ProgramNotFound>
    /** Lists a program's entries in the order (kind, value), of one kind or of both. */
    list(
      programId: ProgramId,
      limit: number,
      kind?: SuppressionKind,
    ): Effect.Effect<ReadonlyArray<Suppression>, ProgramNotFound>
  }
>()("domain/suppressions/SuppressionRepository") {}
