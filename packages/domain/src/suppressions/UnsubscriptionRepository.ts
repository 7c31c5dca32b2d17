import { Context, type Effect } from "effect"
import type { RecipientRef } from "../hits/TrackingLinks.ts"
import type { ProgramId } from "../Identifier.ts"
import type { EmailAddress } from "../recipients/EmailAddress.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { Clinician } from "./Clinician.ts"

/** What a recipient unsubscribes from: the message's program alone, or any program of the organization. */
export type UnsubscriptionScope = "program" | "organization"

/** A recipient's request to get no more e-mails, before it is a suppression. */
export interface Unsubscription extends RecipientRef, Clinician {
  readonly scope: UnsubscriptionScope
  readonly programId: ProgramId
  readonly askedAt: Timestamp
}

/** What a recipient may unsubscribe from. */
export interface UnsubscriptionChoice {
  readonly organizationName: string
  readonly senderName: string | null
  readonly programName: string
  /** Null once the recipient was erased. */
  readonly email: EmailAddress | null
  /** What the recipient is unsubscribed from by this link; null for nothing. */
  readonly unsubscribedFrom: UnsubscriptionScope | null
}

/** Stores who asked for no more e-mails. */
export class UnsubscriptionRepository extends Context.Service<
  UnsubscriptionRepository,
  {
    /** Finds who writes to a recipient, and about what; undefined if the recipient is unknown. */
    findChoice(recipient: RecipientRef): Effect.Effect<UnsubscriptionChoice | undefined>
    /** Stores a recipient's request, by default for the organization; it never narrows an earlier one. Returns false if the recipient is unknown. */
    ask(recipient: RecipientRef, scope?: UnsubscriptionScope): Effect.Effect<boolean>
    /** Stores that a recipient takes the request back; without one, nothing. Returns false if the recipient is unknown. */
    revoke(recipient: RecipientRef): Effect.Effect<boolean>
    /**
     * Removes the suppressions of requests that were taken back, and returns how many of these there were. What anything else suppresses stays, and
     * so does what a request by the link of another message asks for.
     */
    lift(limit: number): Effect.Effect<number>
    /** Lists the requests that are not suppressions yet, oldest first. */
    waiting(limit: number): Effect.Effect<ReadonlyArray<Unsubscription>>
    /** Marks a request as a suppression; a request that was repeated meanwhile stays on the list. */
    settle(unsubscription: Unsubscription): Effect.Effect<void>
  }
>()("domain/suppressions/UnsubscriptionRepository") {}
