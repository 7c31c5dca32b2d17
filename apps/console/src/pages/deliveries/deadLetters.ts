import { DeadLetterReader } from "@outreach/backoffice/deliveries/DeadLetterReader"
import { oneOf } from "@outreach/backoffice/operations/Field"
import type { DeadLetterCursor, DeadLetterFilter } from "@outreach/domain/deliveries/DeadLetterRepository"
import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { outboundEventTypes } from "@outreach/domain/events/outboundEventTypes"
import { DeliveryId, EndpointId, FailureGroupId, OrganizationId } from "@outreach/domain/Identifier"
import { Instant, PastInstant } from "@outreach/domain/Instant"
import { wholeNumber } from "@outreach/domain/textSchema"
import { Effect, Schema } from "effect"
import { defineCursor, type InputsOf, pageOf, pickDefined } from "../../http/inputs.ts"

export const OutboundType = Schema.Literals(outboundEventTypes).pipe(
  Schema.annotate({ expected: "the type of an event, such as outreach.email_sent" }),
)

export const HttpStatus = wholeNumber(100, 599, "an HTTP status")

/** The inputs that select dead letters, named as the flags of `ops dead-letters`. */
export const deadLetterInputs = {
  organization: OrganizationId,
  endpoint: EndpointId,
  group: FailureGroupId,
  type: OutboundType,
  reason: oneOf(DEAD_LETTER_REASONS),
  status: HttpStatus,
  from: PastInstant,
  to: Instant,
} as const

export const deadLetterFilter = (input: Partial<InputsOf<typeof deadLetterInputs>>): DeadLetterFilter => {
  const { organization: organizationId, endpoint: endpointId, group: groupId, type: eventType, ...others } = input
  return pickDefined({ organizationId, endpointId, groupId, eventType, ...others })
}

export const deadLetterCursor = defineCursor({ finishedAt: Instant, id: DeliveryId })

export const readDeadLetters = Effect.fnUntraced(function* (
  filter: DeadLetterFilter,
  size: number,
  after: DeadLetterCursor | undefined,
) {
  const { rows, last } = pageOf(yield* (yield* DeadLetterReader).list(filter, size + 1, after), size)
  return { rows, next: last && { after: deadLetterCursor.of({ finishedAt: last.finishedAt!, id: last.id }) } }
})
