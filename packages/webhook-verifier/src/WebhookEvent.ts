import type {
  ConsumerEvent,
  ConsumerEventData,
  EnvelopeMembers,
  ServiceEvent,
  ServiceEventData,
} from "./contractEvents.ts"

/** An event of a type that this version knows. */
export type KnownEvent =
  | { [Type in keyof ServiceEventData]: ServiceEvent<Type> }[keyof ServiceEventData]
  | { [Type in keyof ConsumerEventData]: ConsumerEvent<Type> }[keyof ConsumerEventData]

/** The name of an event that this version knows. */
export type EventType = KnownEvent["event_type"]

declare const unknown: unique symbol

/**
 * The name of an event that this version does not know. It is a string; `String(type)` types it as one.
 *
 * No comparison with a known name narrows to it, which neither `string` nor a branded string achieves.
 */
export interface UnknownEventType {
  readonly [unknown]: true
  toString(): string
}

/** An event of a type that is newer than this version: acknowledge it. */
export interface UnknownEvent extends EnvelopeMembers {
  event_type: UnknownEventType
  source: string
  data: Record<string, unknown>
}

/** A verified event. A `switch` over `event_type` types `data`, and leaves an `UnknownEvent` to its `default`. */
export type WebhookEvent = KnownEvent | UnknownEvent

/** The events of one type, or of several. */
export type EventOf<Type extends EventType> = Extract<KnownEvent, { event_type: Type }>
