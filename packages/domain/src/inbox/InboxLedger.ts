import { Context, type Effect, Schema } from "effect"
import type { EndpointId, OrganizationId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"

/** An inbound event waits to be applied, is applied, or is quarantined because it could not be. */
export const INBOX_STATES = ["waiting", "quarantined", "applied"] as const
export type InboxState = (typeof INBOX_STATES)[number]

/** A stored event, without its body. */
export interface InboxEntry {
  readonly organizationId: OrganizationId
  readonly eventId: string
  readonly endpointId: EndpointId
  readonly type: string
  readonly state: InboxState
  /** Why it is quarantined. */
  readonly reason: string | null
  readonly receivedAt: Timestamp
  readonly appliedAt: Timestamp | null
  readonly quarantinedAt: Timestamp | null
  /** How often it came again with another body; the first one stays. */
  readonly differing: number
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

/** The event is not quarantined, so there is nothing to replay. */
export class NotQuarantined extends Schema.TaggedError<NotQuarantined>()("NotSetAside", {
  eventId: Schema.String,
  state: Schema.Literals(INBOX_STATES),
}) {
  override get message(): string {
    return `The event ${this.eventId} is ${this.state}, not set aside; there is nothing to replay.`
  }
}

/** Tells operators what partners sent and what became of it. */
export class InboxLedger extends Context.Service<
  InboxLedger,
  {
    /** Lists the events that wait or are quarantined, oldest first; of one organization or of all. */
    list(
      state: Exclude<InboxState, "applied">,
      limit: number,
      organizationId?: OrganizationId,
    ): Effect.Effect<ReadonlyArray<InboxEntry>>
    /** Finds an event, with the body as it was signed. */
    find(
      organizationId: OrganizationId,
      eventId: string,
    ): Effect.Effect<InboxEntry & { readonly body: string }, InboxEntryNotFound>
    /** Lets a quarantined event be applied again. */
    replay(organizationId: OrganizationId, eventId: string): Effect.Effect<void, InboxEntryNotFound | NotQuarantined>
    /** Lets every quarantined event be applied again, in the order of its receipt; answers how many events. */
    replayAll(organizationId: OrganizationId): Effect.Effect<number>
  }
>()("domain/inbox/InboxLedger") {}
