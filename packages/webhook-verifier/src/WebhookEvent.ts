// @boundaries-ignore the contract's types, under a name by which the build copies them into the declarations
import type {
  CampaignSummary,
  ConsumerEvent,
  ConsumerEventData,
  EnvelopeMembers,
  ProgramSummary,
  RecipientRecord,
  ServiceEvent,
  ServiceEventData,
} from "#contract"

export type { CampaignSummary, ConsumerEventData, EnvelopeMembers, ProgramSummary, RecipientRecord, ServiceEventData }

/** An event of a type that this version knows. */
export type KnownEvent =
  | { [Type in keyof ServiceEventData]: ServiceEvent<Type> }[keyof ServiceEventData]
  | { [Type in keyof ConsumerEventData]: ConsumerEvent<Type> }[keyof ConsumerEventData]

/** The name of an event that this version knows. */
export type EventType = KnownEvent["event_type"]

/**
 * The name of an event that this version does not know: a string, of whatever value.
 *
 * An enum is the one string type to which no other literal compares, so that no comparison with a known name narrows to it; `string`, and
 * a branded string, would stay in every branch of a `switch`. No such object exists at run time.
 */
declare enum UnknownEventType {
  Newer = "a type that is newer than this version",
}

export type { UnknownEventType }

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
