import { Context, Effect, Schema } from "effect"
import type { RecipientRef } from "../hits/TrackingLinks.ts"
import { Recipient } from "../recipients/Recipient.ts"
import { settleAll } from "../settleAll.ts"
import { Timestamp } from "../Timestamp.ts"
import { suppressClinicians } from "./Withdrawals.ts"

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

/** Suppressions wait for messages in flight, which must not block others. */
const SUPPRESS_CONCURRENCY = 8
const MAX_BATCH_SIZE = 200

/**
 * Applies unsubscriptions as suppressions by NPI and e-mail address, for the organization or the recipient's program, and removes
 * undone ones. Returns their number.
 */
export const applyUnsubscriptions = Effect.gen(function* () {
  const unsubscriptions = yield* UnsubscriptionRepository
  const suppress = Effect.gen(function* () {
    const waiting = yield* unsubscriptions.waiting(MAX_BATCH_SIZE)
    const settled = waiting.map(
      Effect.fnUntraced(function* (unsubscription) {
        const { organizationId, programId, scope, npi, email } = unsubscription
        const suppressed = scope === "organization" ? { organizationId } : { programId }
        yield* suppressClinicians(suppressed, [{ npi, email }], "unsubscribed", { byUnsubscription: true })
        yield* unsubscriptions.settle(unsubscription)
      }),
    )
    return (yield* settleAll(settled, { concurrency: SUPPRESS_CONCURRENCY })).length
  })
  const [lifted, suppressed] = yield* settleAll([unsubscriptions.lift(MAX_BATCH_SIZE), suppress])
  return lifted! + suppressed!
}).pipe(Effect.orDie)
