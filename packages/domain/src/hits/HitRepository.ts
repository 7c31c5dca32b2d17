import { Context, type Effect } from "effect"
import type { OrganizationId } from "../Identifier.ts"
import type { Hit, JudgedHit, WaitingHit } from "./Hit.ts"

/** Keeps hits: as they came, and what they were judged to be. */
export class HitRepository extends Context.Service<
  HitRepository,
  {
    /**
     * Stores hits, each once, with when it came by the clock of this process. One of a recipient that there is not is left out.
     *
     * Of one link from one address the first 20 of a clock minute are kept, and the others are counted on the last one kept.
     */
    record(hits: ReadonlyArray<Hit & { readonly cameAt: number }>): Effect.Effect<void>
    /** Lists the organizations that have hits to judge. */
    waiting: Effect.Effect<ReadonlyArray<OrganizationId>>
    /**
     * Has the oldest waiting hits of an organization judged, and publishes their events in the same transaction; answers how many.
     *
     * A hit waits until its message was accepted, at most a minute: scanners look before the mail server has its answer.
     */
    judge<R>(
      organizationId: OrganizationId,
      limit: number,
      judge: (hits: ReadonlyArray<WaitingHit>) => Effect.Effect<ReadonlyArray<JudgedHit>, never, R>,
    ): Effect.Effect<number, never, R>
    /** Forgets hits that were judged more than so many days ago, a bounded number of them; returns how many, 0 when none is left. */
    forget(days: number): Effect.Effect<number>
  }
>()("domain/mail/HitRepository") {}
