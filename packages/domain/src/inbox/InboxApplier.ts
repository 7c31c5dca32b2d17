import { Context, type Effect } from "effect"
import type { OrganizationId, ProgramId } from "../Identifier.ts"
import type { ParseResult } from "./parseInboundEvent.ts"

/** What became of a batch of events. */
export interface ApplyResult {
  /** Events that are done, those that tell nothing to do included. */
  readonly applied: number
  /** Events that could not be applied, and why; nothing of their content. */
  readonly quarantined: ReadonlyArray<{ readonly eventId: string; readonly reason: string }>
  /** Events that wait for a message in flight to a recipient whom they withdraw. */
  readonly waiting: number
  /** Events that name the token of no recipient. */
  readonly unattributed: ReadonlyArray<string>
  /** Programs whose completers have just come to their target. */
  readonly reached: ReadonlyArray<ProgramId>
}

/**
 * Applies what the inbox holds: exactly once for each event, in the order of receipt for each clinician.
 *
 * An event and the mark that it was applied share a transaction. One that cannot be applied is quarantined and keeps no other waiting. A
 * message that is in flight is waited for, so that nothing is sent to a recipient who was withdrawn.
 */
export class InboxApplier extends Context.Service<
  InboxApplier,
  {
    /** The organizations that have something to apply, or recipients of a program that reached its target. */
    readonly organizations: Effect.Effect<ReadonlyArray<OrganizationId>>
    /** Applies an organization's next events, at most `limit`; undefined while another worker does. */
    applyNext(
      organizationId: OrganizationId,
      limit: number,
      read: (event: { readonly type: string; readonly body: string }) => ParseResult,
    ): Effect.Effect<ApplyResult | undefined>
    /** Withdraws the next waiting recipients of the programs that reached their target, at most `limit`; answers how many. */
    withdrawReached(organizationId: OrganizationId, limit: number): Effect.Effect<number>
  }
>()("domain/inbox/InboxApplier") {}
