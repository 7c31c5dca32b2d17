import type { ConsumerEvent, ConsumerEventData, ServiceEvent, ServiceEventData } from "@outreach/contract/types"

/** Event types of the pull feed. */
export type FeedEventType = Exclude<keyof ServiceEventData, "outreach.recipients_published">

/** An event of the pull feed. */
export type FeedEvent = { [Type in FeedEventType]: ServiceEvent<Type> }[FeedEventType]

/** An event that the consumer sends to the service. */
export type OutboundEvent = { [Type in keyof ConsumerEventData]: ConsumerEvent<Type> }[keyof ConsumerEventData]
