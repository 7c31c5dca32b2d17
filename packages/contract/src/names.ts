/** Permissions of API keys. */
export const SCOPES = ["tokens:read", "events:read", "recipients:read", "digest:read"] as const
/** Permission of an API key. */
export type Scope = (typeof SCOPES)[number]

type EventRow =
  | { readonly direction: "to_service" }
  | {
      readonly direction: "to_consumer"
      /** The recipients of the event: `one` with its id stored in the event, or those `listed` in `data`. */
      readonly recipients: "none" | "one" | "listed"
      /** Whether the pull feed contains it. */
      readonly isInFeed: boolean
    }

/** All event types with their direction. */
export const EVENT_TYPES = {
  "outreach.recipients_published": { direction: "to_consumer", recipients: "listed", isInFeed: false },
  "outreach.email_sent": { direction: "to_consumer", recipients: "one", isInFeed: true },
  "outreach.email_bounced": { direction: "to_consumer", recipients: "one", isInFeed: true },
  "outreach.email_opened": { direction: "to_consumer", recipients: "one", isInFeed: true },
  "outreach.email_clicked": { direction: "to_consumer", recipients: "one", isInFeed: true },
  "clinician.account_created": { direction: "to_service" },
  "clinician.learner_qualified": { direction: "to_service" },
  "clinician.completer_qualified": { direction: "to_service" },
} as const satisfies { readonly [Type: string]: EventRow }
export type EventType = keyof typeof EVENT_TYPES
/** Event types with a property of `EVENT_TYPES`. */
type EventTypeWith<Property> = {
  [Type in EventType]: (typeof EVENT_TYPES)[Type] extends Property ? Type : never
}[EventType]
/** Event types of one direction. */
export type EventTypeOf<Direction extends "to_consumer" | "to_service"> = EventTypeWith<{
  readonly direction: Direction
}>
export type FeedEventType = EventTypeWith<{ readonly isInFeed: true }>
export const FEED_EVENT_TYPES: readonly FeedEventType[] = Object.entries<EventRow>(EVENT_TYPES).flatMap(
  ([type, row]) => (row.direction === "to_consumer" && row.isInFeed ? [type as FeedEventType] : []),
)

/** Bounce reasons of the service. Readers should accept unknown ones. */
export const BOUNCE_REASONS = [
  "mailbox_not_found",
  "mailbox_disabled",
  "domain_not_found",
  "address_invalid",
  "other",
] as const
/** A bounce reason of the service. */
export type BounceReason = (typeof BOUNCE_REASONS)[number]
