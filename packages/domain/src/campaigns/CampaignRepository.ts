import { Context, type Effect } from "effect"
import type { ChangedMeanwhile } from "../ChangedMeanwhile.ts"
import type { EventDraft } from "../events/Event.ts"
import type { CampaignId, OrganizationId } from "../Identifier.ts"
import type { Program } from "../programs/Program.ts"
import type { ProgramNotFound } from "../programs/ProgramRepository.ts"
import type { Recipient } from "../recipients/Recipient.ts"
import type { CommitTimestamp } from "../Transaction.ts"
import type {
  Campaign,
  CampaignFailure,
  CampaignProgress,
  CampaignStatus,
  CampaignSummary,
  DomainPause,
  ListedCampaign,
  QuarantinedMessage,
  Stop,
} from "./Campaign.ts"
import type { CampaignNotFound, CampaignNotInStatus } from "./CampaignErrors.ts"

export interface CampaignWithProgram {
  readonly campaign: CampaignSummary
  readonly program: Program
}

export interface PublicationChunk extends CampaignWithProgram {
  readonly recipients: ReadonlyArray<Recipient>
}

export interface Publication extends Pick<PublicationChunk, "campaign"> {
  readonly recipients: ReadonlyArray<Pick<Recipient, "id">>
}

/** A campaign that was paused for its complaints. */
export interface PausedCampaign {
  readonly campaignId: CampaignId
  readonly sent: number
  readonly complained: number
}

/** Which campaigns are meant: all conditions must hold. */
export type CampaignFilter = Partial<Pick<Campaign, "organizationId" | "programId" | "status">>

export class CampaignRepository extends Context.Service<
  CampaignRepository,
  {
    create(
      campaign: Omit<Campaign, "organizationId" | "status" | "stoppedAt" | keyof Stop | "createdAt" | "updatedAt">,
    ): Effect.Effect<Campaign, ProgramNotFound>
    find(campaignId: CampaignId): Effect.Effect<Campaign, CampaignNotFound>
    /** Lists campaigns without their bodies, newest first; all conditions must hold. */
    list(filter: CampaignFilter, limit: number): Effect.Effect<ReadonlyArray<ListedCampaign>>
    progress(campaignId: CampaignId): Effect.Effect<CampaignProgress>
    /** Lists the domains that a campaign leaves alone at present, those that it returns to first before the others. */
    pauses(campaignId: CampaignId): Effect.Effect<ReadonlyArray<DomainPause>>
    /** Lists why messages were not sent the last time, the most frequent reason first. */
    failures(campaignId: CampaignId): Effect.Effect<ReadonlyArray<CampaignFailure>>
    /** Lists the first 100 quarantined messages. */
    quarantined(campaignId: CampaignId): Effect.Effect<ReadonlyArray<QuarantinedMessage>>
    /** Locks a campaign until the transaction ends, so that it cannot be scheduled; imports share the lock. */
    lockForImport(
      campaignId: CampaignId,
    ): Effect.Effect<Pick<Campaign, "organizationId" | "programId" | "status">, CampaignNotFound>
    move(
      campaignId: CampaignId,
      from: ReadonlyArray<CampaignStatus>,
      to: CampaignStatus,
      /** Who stops it, and why. Without it the campaign is no longer stopped. */
      stop?: Stop,
    ): Effect.Effect<Campaign, CampaignNotFound | CampaignNotInStatus>
    /**
     * Changes how many of a campaign's e-mails go out in a minute at most; claims from now on keep to it. With a `version`, which is the rate as a
     * text or `none`, nothing is changed of a campaign that has another.
     */
    setRate(
      campaignId: CampaignId,
      perMinute: number | null,
      version?: string,
    ): Effect.Effect<Campaign, CampaignNotFound | ChangedMeanwhile>
    setPauseOnComplaints(campaignId: CampaignId, pauseOnComplaints: boolean): Effect.Effect<Campaign, CampaignNotFound>
    /**
     * Pauses the campaigns that ask for it and whose complaints have reached the upper threshold, and returns them. One that was resumed is paused
     * again only when somebody else has complained.
     */
    readonly pauseOnComplaints: Effect.Effect<ReadonlyArray<PausedCampaign>>
    /** Reads an organization's campaigns of these ids with their programs, in one query. */
    summaries(
      organizationId: OrganizationId,
      campaignIds: ReadonlyArray<CampaignId>,
    ): Effect.Effect<ReadonlyMap<CampaignId, CampaignWithProgram>>
    /** Locks the next scheduled campaign that is not among `except`; undefined when there is none. */
    lockNext(except: ReadonlyArray<CampaignId>): Effect.Effect<Pick<Campaign, "organizationId" | "id"> | undefined>
    /** Locks at most `limit` of a campaign's recipients that are not published. */
    lockChunk(campaign: Pick<Campaign, "organizationId" | "id">, limit: number): Effect.Effect<PublicationChunk>
    /** Sets the status, and queues the messages of the recipients. A message is due when the window starts. */
    queue(publication: Publication, status: CampaignStatus): Effect.Effect<void>
    storePublication(publication: Publication, event: EventDraft, at: CommitTimestamp): Effect.Effect<void>
    /** Opens the campaigns whose window has begun, completes those with nothing left to send or whose window has ended, and drops what they will not send. */
    readonly openAndComplete: Effect.Effect<void>
  }
>()("domain/campaigns/CampaignRepository") {}
