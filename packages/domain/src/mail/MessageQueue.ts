import type { BounceReason } from "@outreach/contract/names"
import { Context, type Effect } from "effect"
import type { EventDraft } from "../events/Event.ts"
import type { CampaignId, OrganizationId, RecipientId, SenderId } from "../Identifier.ts"
import type { RecipientFields } from "../recipients/RecipientFields.ts"
import type { MessageLease, MessageTemplate } from "./Message.ts"
import type { MailFailure, MailOutcome } from "./Transport.ts"

/** A message that leaves the queue; the event is published in the same transaction. */
export interface FinalSettlement {
  readonly state: "sent" | "bounced"
  readonly event: EventDraft
}

/** A message that stays in the queue. */
export interface RetrySettlement {
  readonly state: "retry"
  /** Number of attempts that count against the mailbox from now on. */
  readonly attempts: number
  /** Null quarantines it for an operator. */
  readonly delaySeconds: number | null
  /** Whether the whole message was sent without a response; default false. */
  readonly isUnknown?: boolean
  /** Status of a rejection about us: the campaign pauses the domain for the same time. */
  readonly refusedWith?: string
  /** Reason why the message wasn't sent, if not caused by the recipient. */
  readonly failure?: MailFailure
}

export type MessageSettlement = FinalSettlement | RetrySettlement

export type AttemptOutcome = Lowercase<Exclude<MailOutcome["_tag"], "Late">>

/** An attempt at a message, as shown in its recipient's timeline. */
export interface MessageAttempt {
  readonly outcome: AttemptOutcome
  /** The server's reply from `cleanSmtpReply`, or class and code of a failure; null if unknown. */
  readonly reply: string | null
}

export type LeaseKey = Pick<MessageLease, "recipientId" | "leaseToken">

/** A message to settle. */
export interface SettledMessage<Settlement = MessageSettlement> {
  readonly lease: MessageLease
  readonly settlement: Settlement
  readonly attempt: MessageAttempt | undefined
}

/** Response of a recipient domain's mail server to a campaign's message. */
export interface DomainAnswer {
  readonly campaignId: CampaignId
  readonly email: string
  /** Null isn't counted. */
  readonly answer: "sent" | "deferred" | "refused" | BounceReason | null
  /** From `cleanSmtpReply`, if the message wasn't accepted; null if unknown. */
  readonly reply: string | null
  /** Status of a rejection about us, and how long the campaign pauses the domain. */
  readonly pause?: { readonly status: string; readonly seconds: number } | undefined
}

/** Limits of one claim. A rate counts attempts: no minute has more, except for those of one second. */
export interface MessageClaim {
  readonly limit: number
  readonly leaseSeconds: number
  /** Over all campaigns; null for unlimited. */
  readonly perMinute: number | null
  /** To one recipient domain over all campaigns; null for unlimited. */
  readonly perDomainMinute: number | null
  /** Maximum messages of one campaign in this worker; default unlimited. */
  readonly maxPerCampaign?: number
  /** Number that this worker already has; default none. */
  readonly heldByCampaign?: Readonly<Record<CampaignId, number>>
}

type CampaignKey = Pick<MessageLease, "organizationId" | "campaignId">

/** A due message locked by the deciding claim. Times are in seconds since 1970. */
export interface DueMessage extends Omit<MessageLease, "leaseToken" | "fields" | "ramp"> {
  /** Domain of the address in lower case. */
  readonly domain: string
  /** Rate of its campaign; null for unlimited. */
  readonly perMinute: number | null
  /** Sender with a ramp; null without one. */
  readonly senderId: SenderId | null
}

/** Locked messages of a claim in order of turns, with their limits. */
export interface DueMessages {
  readonly now: number
  readonly candidates: ReadonlyArray<DueMessage>
  /** Start of the next slot of each locked rate. */
  readonly rates: Readonly<Record<string, number>>
  /** Remaining messages of each sender's ramp, and the UTC day that counts them. */
  readonly ramps: Readonly<Record<SenderId, { readonly slots: number; readonly day: string }>>
  /** End of each pause of a domain by a campaign. */
  readonly pauses: ReadonlyArray<{ readonly campaignId: CampaignId; readonly domain: string; readonly until: number }>
  /** Organizations with turns locked by this claim; null if locked by another one. */
  readonly heldOrganizations: ReadonlyArray<OrganizationId> | null
  readonly heldCampaigns: ReadonlyArray<CampaignKey>
  /** Campaigns with due messages when the slots were distributed. */
  readonly waitingCampaigns: ReadonlyArray<CampaignId>
}

export interface ClaimDecision {
  readonly leases: ReadonlyArray<DueMessage>
  readonly deferrals: ReadonlyArray<Deferral>
  /** Start of the next slot of each used rate. */
  readonly rates: Readonly<Record<string, number>>
  readonly ramps: ReadonlyArray<{
    readonly organizationId: OrganizationId
    readonly senderId: SenderId
    readonly day: string
    readonly times: number
  }>
  readonly organizations: ReadonlyArray<OrganizationId> | null
  readonly campaigns: ReadonlyArray<CampaignKey>
  /** Campaign of each leased or deferred message, in candidate order. */
  readonly served: ReadonlyArray<CampaignKey>
}

/** A message that becomes due later: at `until`, or behind earlier ones of its scope. */
export interface Deferral extends Pick<DueMessage, "organizationId" | "recipientId"> {
  readonly until: number
  /** The campaign's queue for a rate; null for a pause. */
  readonly scope: string | null
  /** Number of earlier messages of this claim in that queue. */
  readonly rank: number
  readonly perMinute: number | null
}

export class MessageQueue extends Context.Service<
  MessageQueue,
  {
    /**
     * Locks due messages of sending campaigns within their windows, and their rates and ramps, until the
     * transaction ends; null if there are none. `scanLimit` is the number to read if it exceeds the limit.
     */
    lockDue(claim: MessageClaim, scanLimit: number): Effect.Effect<DueMessages | null>
    /** Returns the milliseconds until an organization's next turn, at most a day. Until then, `lockDue` finds no messages. */
    readonly untilNextTurn: Effect.Effect<number>
    /** Writes a decision about messages locked by `lockDue`. Returns each lease's token. Messages of a dead worker are due again when their lease expires. */
    lease(decision: ClaimDecision, leaseSeconds: number): Effect.Effect<ReadonlyMap<RecipientId, string>>
    /** Extends leases that have not expired. Returns their tokens. */
    renew(leases: ReadonlyArray<MessageLease>, leaseSeconds: number): Effect.Effect<ReadonlyArray<string>>
    /** Reads the common data of a campaign's messages. */
    template(campaignId: CampaignId): Effect.Effect<MessageTemplate>
    /** Reads the fields of recipients; recipients without fields are absent. */
    fields(
      leases: ReadonlyArray<Pick<MessageLease, "organizationId" | "recipientId">>,
    ): Effect.Effect<ReadonlyMap<RecipientId, RecipientFields>>
    /**
     * Puts messages of one organization back into the queue, or quarantines them, with their attempts. Returns the leases that
     * were still held. Locks all given recipients first, like every writer, to avoid deadlocks.
     */
    putBack(
      organizationId: OrganizationId,
      recipientIds: ReadonlyArray<RecipientId>,
      messages: ReadonlyArray<SettledMessage<RetrySettlement>>,
    ): Effect.Effect<ReadonlyArray<LeaseKey>>
    /** Same for messages that leave the queue. */
    takeOut(
      organizationId: OrganizationId,
      recipientIds: ReadonlyArray<RecipientId>,
      messages: ReadonlyArray<SettledMessage>,
    ): Effect.Effect<ReadonlyArray<LeaseKey>>
    /** Counts domains' responses, stores each domain's last rejection, and pauses domains; before the organization's clock is locked. */
    countAnswers(organizationId: OrganizationId, answers: ReadonlyArray<DomainAnswer>): Effect.Effect<void>
    /** Subtracts messages from the counts of ramps. Past days don't change. */
    giveBackToRamps(
      organizationId: OrganizationId,
      days: ReadonlyArray<NonNullable<MessageLease["ramp"]>>,
    ): Effect.Effect<void>
    /** Schedules campaigns' next turns within these numbers of seconds. Failures are ignored: the turn then comes within a minute. */
    bringTurnsForward(organizationId: OrganizationId, delays: ReadonlyMap<CampaignId, number>): Effect.Effect<void>
  }
>()("domain/mail/MessageQueue") {}
