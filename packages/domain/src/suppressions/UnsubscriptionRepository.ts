import { Context, type Effect } from "effect"
import type { RecipientRef } from "../hits/TrackingLinks.ts"
import type { ProgramId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { Clinician } from "./Clinician.ts"

/** A recipient's request for no more e-mails of a program, before it is a suppression. */
export interface Unsubscription extends RecipientRef, Clinician {
  readonly programId: ProgramId
  readonly askedAt: Timestamp
}

/** Stores who asked for no more e-mails. */
export class UnsubscriptionRepository extends Context.Service<
  UnsubscriptionRepository,
  {
    /** Stores a recipient's request; returns false if the recipient is unknown. */
    ask(recipient: RecipientRef): Effect.Effect<boolean>
    /** Lists the requests that are not suppressions yet, oldest first. */
    waiting(limit: number): Effect.Effect<ReadonlyArray<Unsubscription>>
    /** Marks a request as a suppression; a request that was repeated meanwhile stays on the list. */
    settle(unsubscription: Unsubscription): Effect.Effect<void>
  }
>()("domain/suppressions/UnsubscriptionRepository") {}
