// @boundaries-ignore the contract's types, under a name that the build copies into the declarations
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

/** Type name of an event that this version knows. */
export type EventType = KnownEvent["event_type"]

/**
 * Type name of an event that this version doesn't know: any string.
 *
 * An enum is the only string type that comparisons with literals never narrow to; `string` or a branded string would remain
 * in every branch of a `switch`. The object doesn't exist at run time.
 */
declare enum UnknownEventType {
  Newer = "a type that is newer than this version",
}

export type { UnknownEventType }

/** An event of a newer type. Acknowledge it. */
export interface UnknownEvent extends EnvelopeMembers {
  event_type: UnknownEventType
  source: string
  data: Record<string, unknown>
}

/** A verified event. A `switch` over `event_type` narrows `data`; the `default` branch receives `UnknownEvent`. */
export type WebhookEvent = KnownEvent | UnknownEvent

/** The events of one or several types. */
export type EventOf<Type extends EventType> = Extract<KnownEvent, { event_type: Type }>
