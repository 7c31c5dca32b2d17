import { Context, type Effect } from "effect"
import type { RecipientRef } from "../hits/TrackingLinks.ts"
import type { ProgramId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { Clinician } from "./Suppression.ts"

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
>()("domain/mail/UnsubscriptionRepository") {}
