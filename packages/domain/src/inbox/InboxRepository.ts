import { Context, type Effect, Schema } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { EndpointId, OrganizationId, SecretId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

/** An event that a partner sent, verified and not yet parsed. */
export const InboundMessage = Schema.Struct({
  organizationId: OrganizationId,
  endpointId: EndpointId,
  secretId: SecretId,
  /** The partner's own id of the event: the deduplication key within the organization. */
  eventId: Schema.String,
  type: Schema.String,
  /** The clinician of the event, as `data.npi` says; null when it says none. */
  npi: Schema.NullOr(Schema.String),
  /** The bytes that were signed, as text. */
  body: Schema.String,
  /** The trace in which it was received, as W3C Trace Context writes it; null when nobody traced. */
  traceparent: Schema.NullOr(Schema.String),
})
export type InboundMessage = typeof InboundMessage.Type

const { organizationId, endpointId, secretId, eventId, type, npi, body, traceparent } = InboundMessage.fields

/**
 * The outcome of a message: `repeated` and `differs` were stored before, the latter with another body. The first one stays.
 */
export type Receipt = "stored" | "repeated" | "differs"

/** An inbound event waits to be applied, is applied, or is quarantined because it could not be. */
export const INBOX_STATES = ["waiting", "quarantined", "applied"] as const
export type InboxState = (typeof INBOX_STATES)[number]

export const InboxEntry = Schema.Struct({
  ...{ organizationId, eventId, endpointId, secretId, type },
  state: Schema.Literals(INBOX_STATES),
  /** Why it is quarantined. */
  reason: Schema.NullOr(Schema.String),
  receivedAt: Timestamp,
  appliedAt: Schema.NullOr(Timestamp),
  quarantinedAt: Schema.NullOr(Timestamp),
  /** How often it was repeated with other content; the first one stays. */
  differing: Schema.Int,
})
export type InboxEntry = typeof InboxEntry.Type

export const WaitingEvent = Schema.Struct({ eventId, type, npi, body, traceparent })
export type WaitingEvent = typeof WaitingEvent.Type

/** An event that cannot be applied, and why; nothing of its content. */
export interface QuarantinedEvent {
  readonly eventId: string
  readonly reason: string
}

export class InboxEntryNotFound extends DescribedError(
  "InboxEntryNotFound",
  "The organization {organizationId} sent no event {eventId}.",
) {}

export class InboxEntryDropped extends DescribedError(
  "InboxEntryDropped",
  "The event {eventId} of {organizationId} was received at {receivedAt}. Its content is no longer stored (INBOX_MONTHS).",
) {}

/** The event is not quarantined, so there is nothing to replay. Scripts read the tag. */
export class NotQuarantined extends DescribedError(
  "NotQuarantined",
  "The event {eventId} is {state}, not set aside; there is nothing to replay.",
) {}

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
    markApplied(organizationId: OrganizationId, eventIds: ReadonlyArray<string>): Effect.Effect<void>
    /** Replaces the bodies of events about erased clinicians, and forgets their NPIs. */
    erase(
      organizationId: OrganizationId,
      events: ReadonlyArray<Pick<InboundMessage, "eventId" | "body">>,
    ): Effect.Effect<void>
    quarantine(organizationId: OrganizationId, events: ReadonlyArray<QuarantinedEvent>): Effect.Effect<void>
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
