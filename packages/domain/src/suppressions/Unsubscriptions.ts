import { Context, Effect } from "effect"
import type { RecipientRef } from "../hits/TrackingLinks.ts"
import type { ProgramId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { Clinician } from "./Clinician.ts"
import { suppressClinicians } from "./Withdrawals.ts"

/** A recipient's wish to get no more of a program's e-mails, before it is a suppression. */
export interface Unsubscription extends RecipientRef, Clinician {
  readonly programId: ProgramId
  readonly askedAt: Timestamp
}

/** Keeps who asked to be written to no more. */
export class UnsubscriptionRepository extends Context.Service<
  UnsubscriptionRepository,
  {
    /** Keeps a recipient's wish; false when there is no such recipient. */
    ask(recipient: RecipientRef): Effect.Effect<boolean>
    /** Lists wishes that are not suppressions yet, the oldest first. */
    waiting(limit: number): Effect.Effect<ReadonlyArray<Unsubscription>>
    /** Notes that a wish is a suppression now; one that was repeated meanwhile goes on waiting. */
    settle(unsubscription: Unsubscription): Effect.Effect<void>
  }
>()("domain/suppressions/UnsubscriptionRepository") {}

/** Suppressions wait for messages in flight: one must not keep all others. */
const SUPPRESS_CONCURRENCY = 8
const MAX_BATCH_SIZE = 200

/** Turns unsubscriptions into suppressions by NPI and e-mail address, for the program of each recipient; returns how many. */
export const applyUnsubscriptions = Effect.gen(function* () {
  const unsubscriptions = yield* UnsubscriptionRepository
  const waiting = yield* unsubscriptions.waiting(MAX_BATCH_SIZE)
  yield* Effect.forEach(
    waiting,
    Effect.fnUntraced(function* (unsubscription) {
      const { programId, npi, email } = unsubscription
      yield* suppressClinicians(programId, [{ npi, email }], "unsubscribed")
      yield* unsubscriptions.settle(unsubscription)
    }),
    { concurrency: SUPPRESS_CONCURRENCY, discard: true },
  )
  return waiting.length
}).pipe(Effect.orDie)
