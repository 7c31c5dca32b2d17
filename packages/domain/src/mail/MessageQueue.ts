import type { BounceReason } from "@outreach/contract/names"
import { Context, type Effect } from "effect"
import type { EventDraft } from "../events/Event.ts"
import type { CampaignId, OrganizationId, RecipientId } from "../Identifier.ts"
import type { EmailAddress } from "../recipients/EmailAddress.ts"
import type { RecipientFields } from "../recipients/RecipientFields.ts"
import type { CommitTimestamp } from "../Transaction.ts"
import type { ClaimDecision, DueMessages } from "./decideClaim.ts"
import type { MailFailure, MailOutcome } from "./Mailer.ts"
import type { MessageLease, SendingTemplate } from "./Message.ts"

/** What a settlement does with the message; an event is published in the same transaction. */
export type MessageSettlement =
  | { readonly state: "sent"; readonly event: EventDraft }
  /** A hard bounce suppresses the address in every program of the organization. */
  | { readonly state: "bounced"; readonly event: EventDraft; readonly isHardBounce: boolean }
  /** `attempts` is how many count against the mailbox. */
  | {
      readonly state: "retry"
      readonly attempts: number
      readonly delaySeconds: number
      /** The status of a rejection that is about us: for as long, the campaign writes to nobody else of that domain. */
      readonly refusedWith?: string
      /** Why the message was not sent, when its recipient is not the reason. */
      readonly failure?: MailFailure
    }
  /** The message does not render with its recipient's fields: it was not sent, and is quarantined. */
  | { readonly state: "unrendered"; readonly failure: MailFailure }
  /** Nobody knows whether the message was delivered; without a delay it is quarantined for an operator. */
  | { readonly state: "unknown"; readonly delaySeconds: number | null; readonly failure: MailFailure }

export type AttemptOutcome = Lowercase<Exclude<MailOutcome["_tag"], "Late">>

/** An attempt at a message, as its recipient's timeline shows it. */
export interface MessageAttempt {
  readonly outcome: AttemptOutcome
  /** The server's reply from `cleanSmtpReply`, or the class and the code of a failure; null when nothing is known. */
  readonly reply: string | null
}

export type LeaseKey = Pick<MessageLease, "recipientId" | "leaseToken">

/** What a settlement writes of a message that stays in the queue. */
export interface KeptMessage {
  readonly lease: MessageLease
  readonly attempt: MessageAttempt | undefined
  /** How many attempts count against the mailbox from now on. */
  readonly attempts: number
  /** Null quarantines it. */
  readonly delaySeconds: number | null
  /** Whether the whole message was sent and never answered. */
  readonly isUnknown: boolean
  readonly failure?: MailFailure
}

export interface FinalMessage {
  readonly lease: MessageLease
  readonly attempt: MessageAttempt | undefined
  readonly settlement: Extract<MessageSettlement, { readonly state: "sent" | "bounced" }>
}

/** What a recipient domain's mail server answered to a message of a campaign. */
export interface DomainAnswer {
  readonly campaignId: CampaignId
  readonly email: string
  readonly answer: "sent" | "deferred" | "refused" | BounceReason
  /** From `cleanSmtpReply`, if the message was not taken; null when it is not known. */
  readonly reply: string | null
}

/** A rejection that is about us, and for how long its campaign leaves the domain of the address alone. */
export interface DomainRejection {
  readonly campaignId: CampaignId
  readonly email: EmailAddress
  readonly status: string
  readonly delaySeconds: number
}

/** How much one claim may lease. A rate counts attempts: in no minute are there more, except those of one second. */
export interface MessageClaim {
  readonly limit: number
  readonly leaseSeconds: number
  /** Over all campaigns; null for no bound. */
  readonly perMinute: number | null
  /** To any one recipient domain, over all campaigns; null for no bound. */
  readonly perDomainMinute: number | null
  /** How many messages this worker may hold of any one campaign; default no bound. */
  readonly maxPerCampaign?: number
  /** How many it holds; default none. */
  readonly heldByCampaign?: Readonly<Record<CampaignId, number>>
}

/** How long rates are kept after they bound anything: longer than the second that is saved up, so that a clock that was set back forgets nothing that counts. */
export const SEND_RATE_RETENTION_SECONDS = 3600

export class MessageQueue extends Context.Service<
  MessageQueue,
  {
    /**
     * Locks messages that are due of campaigns that are sending and inside their window, and the rates and ramps that bound them, until the
     * transaction ends; null when there is nothing to decide. `scanLimit` is how many it looks at, when it is more than the limit.
     */
    lockDue(claim: MessageClaim, scanLimit: number): Effect.Effect<DueMessages | null>
    /** Writes a decision about messages that `lockDue` holds; returns the token of each lease. What a dead worker held becomes due again when its lease ends. */
    lease(decision: ClaimDecision, leaseSeconds: number): Effect.Effect<ReadonlyMap<RecipientId, string>>
    /** Extends leases that are still held, and returns their tokens. */
    renew(leases: ReadonlyArray<MessageLease>, leaseSeconds: number): Effect.Effect<ReadonlyArray<string>>
    /** Forgets rates and pauses of domains that have bound nothing for `SEND_RATE_RETENTION_SECONDS`. */
    readonly forgetRates: Effect.Effect<void>
    /** Reads what a campaign's messages have in common. */
    template(campaignId: CampaignId): Effect.Effect<SendingTemplate>
    /** Reads the fields of recipients; a recipient without any is absent. */
    fields(
      leases: ReadonlyArray<Pick<MessageLease, "organizationId" | "recipientId">>,
    ): Effect.Effect<ReadonlyMap<RecipientId, RecipientFields>>
    /**
     * Puts messages of one organization back into the queue, or quarantines them, with their attempts; returns the leases that
     * were still held. Before them it locks all the given recipients, as every writer does, so that no two wait for each other.
     */
    putBack(
      organizationId: OrganizationId,
      recipientIds: ReadonlyArray<RecipientId>,
      messages: ReadonlyArray<KeptMessage>,
    ): Effect.Effect<ReadonlyArray<LeaseKey>>
    /** The same for messages that leave the queue. */
    takeOut(
      organizationId: OrganizationId,
      recipientIds: ReadonlyArray<RecipientId>,
      messages: ReadonlyArray<FinalMessage>,
    ): Effect.Effect<ReadonlyArray<LeaseKey>>
    /** Marks the recipients of messages that left the queue, suppresses the addresses of hard bounces, counts the answers and publishes the events. */
    stampRecipients(
      organizationId: OrganizationId,
      messages: ReadonlyArray<FinalMessage>,
      answers: ReadonlyArray<DomainAnswer>,
      at: CommitTimestamp,
    ): Effect.Effect<void>
    /** Counts what domains answered, and keeps the last reply of each that did not take a message. */
    countAnswers(organizationId: OrganizationId, answers: ReadonlyArray<DomainAnswer>): Effect.Effect<void>
    /** Lets campaigns leave the domains alone that rejected us. */
    pauseDomains(organizationId: OrganizationId, rejections: ReadonlyArray<DomainRejection>): Effect.Effect<void>
    /** Takes messages off the counts of the ramps. A day that is over stays as it is. */
    giveBackToRamps(
      organizationId: OrganizationId,
      days: ReadonlyArray<NonNullable<MessageLease["ramp"]>>,
    ): Effect.Effect<void>
    /** Lets campaigns have their next turns within these numbers of seconds. What fails is left: the turn then comes within a minute. */
    bringTurnsForward(organizationId: OrganizationId, delays: ReadonlyMap<CampaignId, number>): Effect.Effect<void>
    /** Forgets some of the attempts that are older than this number of days; returns how many. */
    forgetAttempts(days: number): Effect.Effect<number>
  }
>()("domain/mail/MessageQueue") {}
