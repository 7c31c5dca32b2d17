import { Context, type Effect } from "effect"
import type { CampaignStatus } from "../campaigns/Campaign.ts"
import type { OrganizationId, RecipientId, RestoreId } from "../Identifier.ts"
import type { Recipient } from "../recipients/Recipient.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { CommitTimestamp } from "../Transaction.ts"
import type { DatabaseState, Restore, RestoredCampaign, RestoredOrganization } from "./Restore.ts"

/** Stores restores, and applies their changes. */
export class RestoreRepository extends Context.Service<
  RestoreRepository,
  {
    /** Reads the latest restore; undefined if there is none. */
    readonly latest: Effect.Effect<Restore | undefined>
    /** Adds a restore, unless one is in progress. Returns it, or undefined. */
    create(id: RestoreId, restoredTo: Timestamp): Effect.Effect<Restore | undefined>
    /** Advances every organization's clock by the margin, and stores the earlier time. */
    fenceClocks(marginSeconds: number): Effect.Effect<void>
    /** Pauses campaigns with these statuses whose window may have started before the fence, and stores their statuses. */
    pauseCampaigns(statuses: ReadonlyArray<CampaignStatus>): Effect.Effect<void>
    /** Lists the campaigns paused by the latest restore. */
    readonly campaigns: Effect.Effect<ReadonlyArray<RestoredCampaign>>
    /** Lists the organizations with clocks fenced by the latest restore. */
    readonly organizations: Effect.Effect<ReadonlyArray<RestoredOrganization>>
    /** Finds recipients of all organizations. */
    findRecipients(ids: ReadonlyArray<RecipientId>): Effect.Effect<ReadonlyArray<Recipient>>
    /** Locks an organization's recipients who were neither sent to nor bounced, with their messages. Returns their ids. */
    lockUnsent(
      organizationId: OrganizationId,
      ids: ReadonlyArray<RecipientId>,
    ): Effect.Effect<ReadonlyArray<RecipientId>>
    /** Marks recipients as published, and removes their messages. */
    takeOutMailed(
      organizationId: OrganizationId,
      ids: ReadonlyArray<RecipientId>,
      at: CommitTimestamp,
    ): Effect.Effect<void>
    /** Records that a mail server's log was read completely. */
    noteMailLog(id: RestoreId): Effect.Effect<void>
    /** Restores the statuses of campaigns that the latest restore paused and that are still paused. */
    readonly resumeCampaigns: Effect.Effect<void>
    finish(id: RestoreId): Effect.Effect<void>
    /** Reads the database's identity, and whether it may be used for sending. */
    readonly databaseState: Effect.Effect<DatabaseState>
    /** Records the database's identity, if it is still the same. */
    record(identity: string): Effect.Effect<void>
    /** Records the identity of a lost server whose history this one lacks, so that the workers wait for an operator. */
    recordLost(identity: string): Effect.Effect<void>
    /** Records that a worker sees the database with the recorded identity. */
    readonly see: Effect.Effect<void>
  }
>()("domain/restores/RestoreRepository") {}
