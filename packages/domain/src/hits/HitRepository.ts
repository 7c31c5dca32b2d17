import { Context, type Effect } from "effect"
import type { EventDraft } from "../events/Event.ts"
import type { OrganizationId, RecipientId } from "../Identifier.ts"
import type { CommitTimestamp } from "../Transaction.ts"
import type { Hit, JudgedHit, WaitingHit } from "./Hit.ts"

/** Keeps hits: as they came, and what they were judged to be. */
export class HitRepository extends Context.Service<
  HitRepository,
  {
    /**
     * Stores hits, each once, with when it came by the clock of this process. A hit of an unknown recipient is left out.
     *
     * Of one link the first `MAX_HITS_PER_MINUTE` of a network and in all are kept. The others are counted on the last one kept.
     */
    record(hits: ReadonlyArray<Hit & { readonly cameAt: number }>): Effect.Effect<void>
    waiting: Effect.Effect<ReadonlyArray<OrganizationId>>
    /** Locks an organization's oldest waiting hits whose message was accepted, or that came `MAX_JUDGMENT_DELAY_SECONDS` ago. */
    lockWaiting(organizationId: OrganizationId, limit: number): Effect.Effect<ReadonlyArray<WaitingHit>>
    /** Marks hits of an organization as judged, and locks their recipients; returns those who are not erased. */
    markJudged(
      organizationId: OrganizationId,
      judged: ReadonlyArray<JudgedHit>,
    ): Effect.Effect<ReadonlySet<RecipientId>>
    /** Stamps the recipients of events, and publishes the events. */
    publish(events: ReadonlyArray<EventDraft>, at: CommitTimestamp): Effect.Effect<void>
    /** Forgets hits that were judged more than a number of days ago, a bounded number of them; returns how many, 0 when none is left. */
    forget(days: number): Effect.Effect<number>
  }
>()("domain/hits/HitRepository") {}
