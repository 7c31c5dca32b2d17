import { Context, type Effect, Schema } from "effect"
import type { EndpointId, OrganizationId, SecretId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

/** An event that a partner sent, verified and not yet looked into. */
export interface InboundMessage {
  readonly organizationId: OrganizationId
  /** The endpoint that it was sent to. */
  readonly endpointId: EndpointId
  /** The signing secret that verified it. */
  readonly secretId: SecretId
  /** The partner's own id of the event: the deduplication key within the organization. */
  readonly eventId: string
  readonly type: string
  /** The clinician whom the event is about, as `data.npi` says; null when it says none. */
  readonly npi: string | null
  /** The bytes that were signed, as text. */
  readonly body: string
}

/**
 * What became of a message: `repeated` and `differs` were there before, the latter with another body. The first one stays. Nothing is stored for
 * a `frozen` organization.
 */
export type Receipt = "stored" | "repeated" | "differs" | "frozen"

/** An inbound event waits to be applied, is applied, or is quarantined because it could not be. */
export const INBOX_STATES = ["waiting", "quarantined", "applied"] as const
export type InboxState = (typeof INBOX_STATES)[number]

/** A stored event, without its body. */
export interface InboxEntry extends Omit<InboundMessage, "npi" | "body"> {
  readonly state: InboxState
  /** Why it is quarantined. */
  readonly reason: string | null
  readonly receivedAt: Timestamp
  readonly appliedAt: Timestamp | null
  readonly quarantinedAt: Timestamp | null
  /** How often it came again with another body; the first one stays. */
  readonly differing: number
}

/** An event to apply. */
export type WaitingEvent = Pick<InboundMessage, "eventId" | "type" | "npi" | "body">

/** An event that cannot be applied, and why; nothing of its content. */
export interface QuarantinedEvent {
  readonly eventId: string
  readonly reason: string
}

/** The organization has no stored event of this id. */
export class InboxEntryNotFound extends Schema.TaggedError<InboxEntryNotFound>()("InboxEntryNotFound", {
  organizationId: Schema.String,
  eventId: Schema.String,
}) {
  override get message(): string {
    return `The organization ${this.organizationId} sent no event ${this.eventId}.`
  }
}

/** The organization sent the event, and its month is over for which what was sent is kept. */
export class InboxEntryDropped extends Schema.TaggedError<InboxEntryDropped>()("InboxEntryDropped", {
  organizationId: Schema.String,
  eventId: Schema.String,
  receivedAt: Timestamp,
}) {
  override get message(): string {
    return `The event ${this.eventId} of ${this.organizationId} was received at ${this.receivedAt}. Its content is no longer stored (INBOX_MONTHS).`
  }
}

/** The event is not quarantined, so there is nothing to replay. Scripts read the tag. */
export class NotQuarantined extends Schema.TaggedError<NotQuarantined>()("NotQuarantined", {
  eventId: Schema.String,
  state: Schema.Literals(INBOX_STATES),
}) {
  override get message(): string {
    return `The event ${this.eventId} is ${this.state}, not set aside; there is nothing to replay.`
  }
}

/** Keeps what partners send, in the order of its receipt. */
export class InboxRepository extends Context.Service<
  InboxRepository,
  {
    /** Stores a message unless one of its `eventId` is there. */
    receive(message: InboundMessage): Effect.Effect<Receipt>
    /** The organizations that have something to apply, or waiting recipients of a program that reached its quota. */
    readonly organizations: Effect.Effect<ReadonlyArray<OrganizationId>>
    /** Reads an organization's next waiting events, in the order of their receipt. */
    readWaiting(organizationId: OrganizationId, limit: number): Effect.Effect<ReadonlyArray<WaitingEvent>>
    /** Marks events as applied. */
    markApplied(organizationId: OrganizationId, eventIds: ReadonlyArray<string>): Effect.Effect<void>
    /** Replaces the bodies of events about erased clinicians, and forgets their NPIs. */
    erase(
      organizationId: OrganizationId,
      events: ReadonlyArray<Pick<InboundMessage, "eventId" | "body">>,
    ): Effect.Effect<void>
    /** Quarantines events until they are replayed. */
    quarantine(organizationId: OrganizationId, events: ReadonlyArray<QuarantinedEvent>): Effect.Effect<void>
    /** Finds an event, with the body as it was signed. */
    find(
      organizationId: OrganizationId,
      eventId: string,
    ): Effect.Effect<InboxEntry & { readonly body: string }, InboxEntryNotFound | InboxEntryDropped>
    /** Lets a quarantined event be applied again. */
    replay(
      organizationId: OrganizationId,
      eventId: string,
    ): Effect.Effect<void, InboxEntryNotFound | InboxEntryDropped | NotQuarantined>
    /** Lets every quarantined event be applied again, in the order of receipt; returns how many there were. */
    replayAll(organizationId: OrganizationId): Effect.Effect<number>
  }
>()("domain/inbox/InboxRepository") {}
