import { Context, type Effect, Schema } from "effect"
import { type ChangedMeanwhile, DescribedError } from "../DescribedError.ts"
import { CampaignId, type OrganizationId } from "../Identifier.ts"
import type { TemplatePart } from "../mail/templates/Template.ts"
import type { Program } from "../programs/Program.ts"
import type { ProgramNotFound } from "../programs/Programs.ts"
import type { Recipient } from "../recipients/Recipient.ts"
import type { Timestamp } from "../Timestamp.ts"
import type {
  Campaign,
  CampaignProgress,
  CampaignStatus,
  CampaignSummary,
  QuarantinedMessage,
  Stop,
} from "./Campaign.ts"
import type { PreflightCheck } from "./preflight.ts"

export class CampaignNotFound extends DescribedError("CampaignNotFound", "No campaign {campaignId}.") {}

export class CampaignNotInStatus extends DescribedError(
  "CampaignNotInStatus",
  ({ campaignId, status, wanted }: Record<"campaignId" | "status", string> & { wanted: ReadonlyArray<string> }) =>
    `Campaign ${campaignId} is ${status}; this needs it to be ${wanted.join(" or ")}.`,
) {}

/** Partners and recipients may have the earlier content. */
export class FixedAfterScheduling extends DescribedError(
  "FixedAfterScheduling",
  "Campaign {campaignId} is {status}. After scheduling, only its rate and its pause on complaints can be changed. Duplicate it to send another version.",
) {}

/** Checks of a campaign failed; their names are in `failed`. */
export class CampaignNotReady extends DescribedError(
  "CampaignNotReady",
  ({
    campaignId,
    failed,
    checks,
  }: {
    readonly campaignId: string
    readonly failed: ReadonlyArray<string>
    readonly checks: ReadonlyArray<PreflightCheck>
  }) => {
    const lines = checks
      .filter(({ check }) => failed.includes(check))
      .map(({ check, found, advice }) => `${check}: ${found} ${advice ?? ""}`.trimEnd())
    return [
      `Campaign ${campaignId} is not ready: ${failed.length} of ${checks.length} checks failed.`,
      ...lines,
      `Correct this, or schedule the campaign anyway by forcing ${failed.join(",")}.`,
    ].join("\n")
  },
) {}

export class QuotaReached extends DescribedError(
  "QuotaReached",
  "The program {programId} of campaign {campaignId} has reached its completer quota, so recipients can't be added.",
) {}

export class InvalidWindow extends DescribedError("InvalidWindow", "{reason}") {}

export class InvalidTemplate extends DescribedError(
  "InvalidTemplate",
  ({ part, reason }: { readonly part: TemplatePart; readonly reason: string }) =>
    `The ${part} is not a valid template: ${reason}`,
) {}

const DETAILS = {
  senderName: { name: "the sender name", template: "{{ sender_name }}" },
  postalAddress: { name: "the postal address", template: "{{ postal_address }}" },
  unsubscribeUrl: { name: "the link to unsubscribe", template: "{{ unsubscribe_url }}" },
} as const

/** The e-mail lacks legally required details. */
export class SenderNotShown extends DescribedError(
  "SenderNotShown",
  ({ part, missing }: { readonly part: "html" | "text"; readonly missing: ReadonlyArray<keyof typeof DETAILS> }) => {
    const list = (key: "name" | "template") => missing.map((detail) => DETAILS[detail][key]).join(" and ")
    return `The ${part} does not show ${list("name")}. Add ${list("template")} where recipients see it, or let the plain layout add a footer.`
  },
) {}

export class InvalidShortLink extends DescribedError(
  "InvalidShortLink",
  ({ shortLink }: { readonly shortLink: string }) =>
    `${shortLink} is not an http or https address that contains {token} once.`,
) {}

export interface CampaignWithProgram {
  readonly campaign: CampaignSummary
  readonly program: Program
}

export interface PublicationChunk extends CampaignWithProgram {
  readonly recipients: ReadonlyArray<Recipient>
}

/** A campaign that was paused because of complaints. */
export const PausedCampaign = Schema.Struct({ campaignId: CampaignId, sent: Schema.Int, complained: Schema.Int })
export type PausedCampaign = typeof PausedCampaign.Type

/** Fields that can be changed until the campaign is over; the others only while it is a draft. */
export const LIVE_FIELDS = ["perMinute", "pauseOnComplaints"] as const

export type CampaignChanges = Partial<
  Pick<Campaign, (typeof LIVE_FIELDS)[number] | "name" | "windowStart" | "windowEnd"> &
    Pick<Campaign, "subject" | "preheader" | "html" | "text" | "shortLink" | "fields">
>

export class CampaignRepository extends Context.Service<
  CampaignRepository,
  {
    create(
      campaign: Omit<
        Campaign,
        "organizationId" | "status" | "stoppedAt" | keyof Stop | `${"created" | "updated" | "edited" | "tested"}At`
      >,
    ): Effect.Effect<Campaign, ProgramNotFound>
    find(campaignId: CampaignId): Effect.Effect<Campaign, CampaignNotFound>
    progress(campaignId: CampaignId): Effect.Effect<CampaignProgress>
    /** Lists the first 100 quarantined messages. */
    quarantined(campaignId: CampaignId): Effect.Effect<ReadonlyArray<QuarantinedMessage>>
    /** Locks a campaign until the transaction ends, so that it can't be scheduled; imports share the lock. */
    lockForImport(
      campaignId: CampaignId,
    ): Effect.Effect<Pick<Campaign, "organizationId" | "programId" | "status">, CampaignNotFound>
    move(
      campaignId: CampaignId,
      from: ReadonlyArray<CampaignStatus>,
      to: CampaignStatus,
      options?: {
        /** Who stops it, and why. Without it, the campaign is no longer stopped. */
        readonly stop?: Stop
        /** Fails if the campaign was edited after this. Default: it may have been. */
        readonly editedAt?: Timestamp
      },
    ): Effect.Effect<Campaign, CampaignNotFound | CampaignNotInStatus | ChangedMeanwhile>
    /**
     * Changes the given fields of a campaign with one of the statuses. A rate applies to claims from now on. Fails if the campaign was edited
     * after it was read. A change of the content or the name requires another test message.
     */
    update(
      campaign: Pick<Campaign, "id" | "editedAt">,
      statuses: ReadonlyArray<CampaignStatus>,
      changes: CampaignChanges,
    ): Effect.Effect<Campaign, CampaignNotFound | CampaignNotInStatus | ChangedMeanwhile>
    /** Records an accepted test message, unless the campaign was edited after it was read. */
    markTested(campaign: Pick<Campaign, "id" | "editedAt">): Effect.Effect<void>
    /**
     * Pauses campaigns with the option if their complaints reached the upper threshold. Returns them. A resumed campaign is paused
     * again only after a new complaint.
     */
    readonly pauseOnComplaints: Effect.Effect<ReadonlyArray<PausedCampaign>>
    /** Reads an organization's campaigns by id with their programs, in one query. */
    summaries(
      organizationId: OrganizationId,
      campaignIds: ReadonlyArray<CampaignId>,
    ): Effect.Effect<ReadonlyMap<CampaignId, CampaignWithProgram>>
    /** Locks the next scheduled campaign that isn't in `except`; undefined if there is none. */
    lockNext(except: ReadonlyArray<CampaignId>): Effect.Effect<Pick<Campaign, "organizationId" | "id"> | undefined>
    /** Locks at most `limit` unpublished recipients of a campaign. */
    lockChunk(campaign: Pick<Campaign, "organizationId" | "id">, limit: number): Effect.Effect<PublicationChunk>
    /** Sets the status, and queues the recipients' messages. They are due when the window starts. */
    queue(
      campaign: CampaignSummary,
      recipients: ReadonlyArray<Pick<Recipient, "id">>,
      status: CampaignStatus,
    ): Effect.Effect<void>
    /**
     * Opens campaigns at the start of their window, completes those that are finished or after their window, and removes their unsent messages.
     * Returns the milliseconds until the next campaign may be due: at least a second.
     */
    readonly openAndComplete: Effect.Effect<number>
  }
>()("domain/campaigns/CampaignRepository") {}
