/** Permissions of API keys. */
export const SCOPES = ["tokens:read", "events:read", "recipients:read", "digest:read"] as const
/** Permission of an API key. */
export type Scope = (typeof SCOPES)[number]

/** All event types with their direction. */
export const EVENT_DIRECTIONS = {
  "outreach.recipients_published": "to_consumer",
  "outreach.email_sent": "to_consumer",
  "outreach.email_bounced": "to_consumer",
  "outreach.email_opened": "to_consumer",
  "outreach.email_clicked": "to_consumer",
  "clinician.account_created": "to_service",
  "clinician.learner_qualified": "to_service",
  "clinician.completer_qualified": "to_service",
} as const
export type EventType = keyof typeof EVENT_DIRECTIONS
/** Event types of one direction. */
export type EventTypeOf<Direction extends "to_consumer" | "to_service"> = {
  [T in EventType]: (typeof EVENT_DIRECTIONS)[T] extends Direction ? T : never
}[EventType]

/** The recipients of each outgoing event: `one` recipient with its id stored in the event, or the recipients `listed` in `data`. */
export const EVENT_RECIPIENTS = {
  "outreach.recipients_published": "listed",
  "outreach.email_sent": "one",
  "outreach.email_bounced": "one",
  "outreach.email_opened": "one",
  "outreach.email_clicked": "one",
} as const satisfies { readonly [Type in EventTypeOf<"to_consumer">]: "none" | "one" | "listed" }

/** For each event that the service sends: whether the pull feed contains it. */
const IS_IN_FEED = {
  "outreach.recipients_published": false,
  "outreach.email_sent": true,
  "outreach.email_bounced": true,
  "outreach.email_opened": true,
  "outreach.email_clicked": true,
} as const satisfies { readonly [Type in EventTypeOf<"to_consumer">]: boolean }
export type FeedEventType = {
  [Type in keyof typeof IS_IN_FEED]: (typeof IS_IN_FEED)[Type] extends true ? Type : never
}[keyof typeof IS_IN_FEED]
export const FEED_EVENT_TYPES: readonly FeedEventType[] = (Object.keys(IS_IN_FEED) as FeedEventType[]).filter(
  (type) => IS_IN_FEED[type],
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
