import { Context, type Effect } from "effect"
import type { EndpointId, OrganizationId } from "../Identifier.ts"

/** An event that a partner sent, verified and not yet looked into. */
export interface InboundMessage {
  readonly organizationId: OrganizationId
  /** The endpoint that it was sent to. */
  readonly endpointId: EndpointId
  /** The partner's own id of the event: the deduplication key within the organization. */
  readonly eventId: string
  readonly type: string
  /** The clinician whom the event is about, as `data.npi` says; null when it says none. */
  readonly npi: string | null
  /** The bytes that were signed, as text. */
  readonly body: string
}

/** What became of a message: `repeated` and `differs` were there before, the latter with another body. The first one stays. */
export type Receipt = "stored" | "repeated" | "differs"

/** Keeps what partners send, in the order of its receipt, until it is applied. */
export class Inbox extends Context.Service<
  Inbox,
  {
    /** Stores a message unless one of its `eventId` is there. */
    receive(message: InboundMessage): Effect.Effect<Receipt>
  }
>()("domain/inbox/Inbox") {}
