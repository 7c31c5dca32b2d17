import { Context, type Effect } from "effect"
import type { CampaignStatus } from "../campaigns/Campaign.ts"
import type { EventDraft } from "../events/Event.ts"
import type { OrganizationId, RecipientId, RestoreId } from "../Identifier.ts"
import type { Recipient } from "../recipients/Recipient.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { CommitTimestamp } from "../Transaction.ts"
import type { DatabaseStanding, Restore, RestoredCampaign, RestoredOrganization } from "./Restore.ts"

/** Keeps what is known of restores, and changes what they must change. */
export class RestoreRepository extends Context.Service<
  RestoreRepository,
  {
    /** Reads the newest restore; undefined when there was none. */
    readonly latest: Effect.Effect<Restore | undefined>
    /** Adds a restore, unless one is under way; returns it, or undefined. */
    create(id: RestoreId, restoredTo: Timestamp): Effect.Effect<Restore | undefined>
    /** Moves the clock of every organization by the margin beyond the present, and keeps its earlier time. */
    fenceClocks(marginSeconds: number): Effect.Effect<void>
    /** Pauses the campaigns of these statuses whose window may have begun before the fence, and keeps their statuses. */
    pauseCampaigns(statuses: ReadonlyArray<CampaignStatus>): Effect.Effect<void>
    /** Lists the campaigns that the newest restore paused. */
    readonly campaigns: Effect.Effect<ReadonlyArray<RestoredCampaign>>
    /** Lists the organizations whose clocks the newest restore fenced. */
    readonly organizations: Effect.Effect<ReadonlyArray<RestoredOrganization>>
    /** Finds recipients of all organizations. */
    findRecipients(ids: ReadonlyArray<RecipientId>): Effect.Effect<ReadonlyArray<Recipient>>
    /** Locks those of an organization's recipients who were neither sent to nor bounced, with their messages; returns their ids. */
    lockUnsent(
      organizationId: OrganizationId,
      ids: ReadonlyArray<RecipientId>,
    ): Effect.Effect<ReadonlyArray<RecipientId>>
    /** Marks the recipients of events as sent and published, removes their messages, and publishes the events. */
    storeMailed(
      organizationId: OrganizationId,
      events: ReadonlyArray<EventDraft>,
      at: CommitTimestamp,
    ): Effect.Effect<void>
    /** Notes that a log of a mail server was read to its end. */
    noteMailLog(id: RestoreId): Effect.Effect<void>
    /** Gives the campaigns that the newest restore paused, and that are still paused, the statuses that they had. */
    readonly resumeCampaigns: Effect.Effect<void>
    finish(id: RestoreId): Effect.Effect<void>
    /** Reads where the database is, and whether it may be sent from. */
    readonly standing: Effect.Effect<DatabaseStanding>
    /** Records that the database is where it was seen, if it still is. */
    record(identity: string): Effect.Effect<void>
    /** Records that a worker sees the database where it was recorded. */
    readonly see: Effect.Effect<void>
  }
>()("domain/restores/RestoreRepository") {}
