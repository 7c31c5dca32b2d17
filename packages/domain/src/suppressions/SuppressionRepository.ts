import { Context, type Effect } from "effect"
import type { ProgramId } from "../Identifier.ts"
import type { ProgramNotFound } from "../programs/ProgramRepository.ts"
import type { Clinician, Suppression, SuppressionKind, SuppressionReason } from "./Suppression.ts"

/** The key of a suppression within its program. */
export type SuppressionKey = Pick<Suppression, "kind" | "value">

/** Keeps whom each program must not write to. */
export class SuppressionRepository extends Context.Service<
  SuppressionRepository,
  {
    /**
     * Suppresses clinicians in one transaction, and withdraws the waiting recipients of the program whom they match.
     *
     * Waits for the messages that are in flight to them: when it is done, nothing will be sent to them any more.
     */
    add(
      programId: ProgramId,
      clinicians: ReadonlyArray<Clinician>,
      reason: SuppressionReason,
    ): Effect.Effect<{ readonly added: number; readonly withdrawn: number }, ProgramNotFound>
    /** Removes entries, and answers how many there were. Who was withdrawn stays so; an import may name them again. */
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
