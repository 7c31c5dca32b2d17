import { Context, type Effect, Schema } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { EndpointId, OrganizationId, SecretId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

/** A partner's event, verified but not parsed. */
export const InboundMessage = Schema.Struct({
  organizationId: OrganizationId,
  endpointId: EndpointId,
  secretId: SecretId,
  /** The partner's event id: the deduplication key within the organization. */
  eventId: Schema.String,
  type: Schema.String,
  /** NPI in the event's `data.npi`; null without one. */
  npi: Schema.NullOr(Schema.String),
  /** The signed bytes as text. */
  body: Schema.String,
  /** W3C trace context of its receipt; null if it wasn't traced. */
  traceparent: Schema.NullOr(Schema.String),
})
export type InboundMessage = typeof InboundMessage.Type

const { organizationId, endpointId, secretId, eventId, type, npi, body, traceparent } = InboundMessage.fields

/**
 * Result of a message: `repeated` and `differs` were already stored, the latter with a different body. The first one is kept.
 */
export type Receipt = "stored" | "repeated" | "differs"

/** An inbound event is waiting, applied, or quarantined because it couldn't be applied. */
export const INBOX_STATES = ["waiting", "quarantined", "applied"] as const
export type InboxState = (typeof INBOX_STATES)[number]

export const InboxEntry = Schema.Struct({
  ...{ organizationId, eventId, endpointId, secretId, type },
  state: Schema.Literals(INBOX_STATES),
  /** Reason of the quarantine. */
  reason: Schema.NullOr(Schema.String),
  receivedAt: Timestamp,
  appliedAt: Schema.NullOr(Timestamp),
  quarantinedAt: Schema.NullOr(Timestamp),
  /** Number of repetitions with different content; the first one is kept. */
  differing: Schema.Int,
})
export type InboxEntry = typeof InboxEntry.Type

export const WaitingEvent = Schema.Struct({ eventId, type, npi, body, traceparent })
export type WaitingEvent = typeof WaitingEvent.Type

/** An event that can't be applied, and the reason, without its content. */
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

/** The event isn't quarantined, so it can't be replayed. Scripts read the tag. */
export class NotQuarantined extends DescribedError(
  "NotQuarantined",
  "The event {eventId} is {state}, not set aside; there is nothing to replay.",
) {}

/** Why a webhook had no valid signature, in words for the sender. */
export const SIGNATURE_FAULTS = {
  missing_header: "the header X-Signature is missing",
  malformed_header: "the header X-Signature is malformed",
  timestamp_out_of_tolerance: "its timestamp differs from our clock by more than five minutes",
  no_match: "no active secret of the endpoint matches the signature and the sent bytes",
  no_secrets: "the endpoint has no active secret",
} as const
export type SignatureFault = keyof typeof SIGNATURE_FAULTS

export interface SignatureRejections {
  readonly endpointId: EndpointId
  readonly reason: SignatureFault
  readonly count: number
}

/** Stores partners' events in order of receipt. */
export class InboxRepository extends Context.Service<
  InboxRepository,
  {
    /** Stores a message unless its `eventId` is already stored. */
    receive(message: InboundMessage): Effect.Effect<Receipt>
    /** Organizations with waiting events, or with waiting recipients of a program that reached its quota. */
    readonly organizations: Effect.Effect<ReadonlyArray<OrganizationId>>
    /** Reads an organization's next waiting events in order of receipt. */
    readWaiting(organizationId: OrganizationId, limit: number): Effect.Effect<ReadonlyArray<WaitingEvent>>
    /** Adds to the numbers of webhooks without a valid signature. Endpoints that don't exist are skipped. */
    countRejections(rejections: ReadonlyArray<SignatureRejections>): Effect.Effect<void>
    markApplied(organizationId: OrganizationId, eventIds: ReadonlyArray<string>): Effect.Effect<void>
    /** Replaces the bodies of events about erased clinicians, and removes their NPIs. */
    erase(
      organizationId: OrganizationId,
      events: ReadonlyArray<Pick<InboundMessage, "eventId" | "body">>,
    ): Effect.Effect<void>
    quarantine(organizationId: OrganizationId, events: ReadonlyArray<QuarantinedEvent>): Effect.Effect<void>
    find(
      organizationId: OrganizationId,
      eventId: string,
    ): Effect.Effect<InboxEntry & { readonly body: string }, InboxEntryNotFound | InboxEntryDropped>
    /** Makes a quarantined event waiting again. */
    replay(
      organizationId: OrganizationId,
      eventId: string,
    ): Effect.Effect<void, InboxEntryNotFound | InboxEntryDropped | NotQuarantined>
    /** Makes all quarantined events waiting again, in order of receipt. Returns their number. */
    replayAll(organizationId: OrganizationId): Effect.Effect<number>
  }
>()("domain/inbox/InboxRepository") {}

/** End of the body of a partner's event about an erased clinician. */
export const ERASED_BODY_END = '"data":{},"metadata":{"erased":true}}'

/** Returns a partner's event without its data and metadata. */
export const eraseInboundBody = (body: string): string => {
  const { data, metadata, ...envelope } = JSON.parse(body)
  return `${JSON.stringify(envelope).slice(0, -1)},${ERASED_BODY_END}`
}
