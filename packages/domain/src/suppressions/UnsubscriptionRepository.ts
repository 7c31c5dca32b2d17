import { Context, type Effect, Schema } from "effect"
import type { RecipientRef } from "../hits/TrackingLinks.ts"
import { Recipient } from "../recipients/Recipient.ts"
import { Timestamp } from "../Timestamp.ts"

const { organizationId, id: recipientId, programId, npi, email } = Recipient.fields

/** Scope of an unsubscription: only the message's program, or all programs of the organization. */
const UnsubscriptionScope = Schema.Literals(["program", "organization"])
export type UnsubscriptionScope = typeof UnsubscriptionScope.Type

/** A recipient's unsubscribe request, before it is a suppression. */
export const Unsubscription = Schema.Struct({
  ...{ organizationId, recipientId, programId, npi, email },
  scope: UnsubscriptionScope,
  askedAt: Timestamp,
})
export type Unsubscription = typeof Unsubscription.Type

export const UnsubscriptionChoice = Schema.Struct({
  organizationName: Schema.String,
  senderName: Schema.NullOr(Schema.String),
  programName: Schema.String,
  /** Null after the recipient was erased. */
  email: Schema.NullOr(email),
  /** Scope of the current unsubscription by this link; null for none. */
  unsubscribedFrom: Schema.NullOr(UnsubscriptionScope),
})
export type UnsubscriptionChoice = typeof UnsubscriptionChoice.Type

export class UnsubscriptionRepository extends Context.Service<
  UnsubscriptionRepository,
  {
    /** Finds the sender and the program of a recipient's e-mails; undefined if the recipient is unknown. */
    findChoice(recipient: RecipientRef): Effect.Effect<UnsubscriptionChoice | undefined>
    /** Stores a recipient's request, by default for the organization; it never narrows an earlier one. Returns false if the recipient is unknown. */
    ask(recipient: RecipientRef, scope?: UnsubscriptionScope): Effect.Effect<boolean>
    /** Stores that a recipient undoes the request; no effect without one. Returns false if the recipient is unknown. */
    revoke(recipient: RecipientRef): Effect.Effect<boolean>
    /**
     * Removes the suppressions of undone requests. Returns their number. Other suppressions stay, including
     * those requested by the link of another message.
     */
    lift(limit: number): Effect.Effect<number>
    /** Lists the requests that aren't suppressions yet, oldest first. */
    waiting(limit: number): Effect.Effect<ReadonlyArray<Unsubscription>>
    /** Marks a request as applied; a request repeated since it was read stays on the list. */
    settle(unsubscription: Unsubscription): Effect.Effect<void>
  }
>()("domain/suppressions/UnsubscriptionRepository") {}
