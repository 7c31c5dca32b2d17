import { Context, type Effect } from "effect"
import type { OrganizationId, RecipientId } from "../Identifier.ts"
import type { Hit, JudgedHit, WaitingHit } from "./Hit.ts"

/** Stores hits as received, with their classification. */
export class HitRepository extends Context.Service<
  HitRepository,
  {
    /**
     * Stores each hit once, with its time by this process's clock. Excludes hits of unknown recipients.
     *
     * The first `MAX_HITS_PER_MINUTE` of a link are stored, per network and in total. Further ones are counted on the last stored hit.
     */
    record(hits: ReadonlyArray<Hit & { readonly cameAt: number }>): Effect.Effect<void>
    waiting: Effect.Effect<ReadonlyArray<OrganizationId>>
    /** Locks an organization's oldest waiting hits of accepted messages, or that are `MAX_JUDGMENT_DELAY_SECONDS` old. */
    lockWaiting(organizationId: OrganizationId, limit: number): Effect.Effect<ReadonlyArray<WaitingHit>>
    /** Marks an organization's hits as classified, and locks their recipients. Returns those that aren't erased. */
    markJudged(
      organizationId: OrganizationId,
      judged: ReadonlyArray<JudgedHit>,
    ): Effect.Effect<ReadonlySet<RecipientId>>
  }
>()("domain/hits/HitRepository") {}
