import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { outboundEventTypes } from "@outreach/domain/events/outboundEventTypes"
import { EndpointId, FailureGroupId, OrganizationId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import type { Operator } from "@outreach/domain/operators/Operator"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { wholeNumber } from "@outreach/domain/textSchema"
import type { DeadLetterFilter, DeadLetterPosition } from "@outreach/postgres/deliveries/DeadLetterRepository"
import { Schema } from "effect"

/** A reason why deliveries became dead letters. */
export const Reason = Schema.Literals(DEAD_LETTER_REASONS).pipe(
  Schema.annotate({ expected: DEAD_LETTER_REASONS.join(", ") }),
)

/** The type of an event that partners receive. */
export const OutboundType = Schema.Literals(outboundEventTypes).pipe(
  Schema.annotate({ expected: "the type of an event, such as outreach.email_sent" }),
)

export const HttpStatus = wholeNumber(100, 599, "an HTTP status")

/** The inputs that select dead letters, by the names of the flags of `ops dead-letters`. */
export const deadLetterInputs = {
  organization: OrganizationId,
  endpoint: EndpointId,
  group: FailureGroupId,
  type: OutboundType,
  reason: Reason,
  status: HttpStatus,
  from: Instant,
  to: Instant,
} as const

/** The values of `deadLetterInputs`. */
export type DeadLetterInput = {
  readonly [K in keyof typeof deadLetterInputs]: (typeof deadLetterInputs)[K]["Type"] | undefined
}

/** Returns the dead letters that the inputs select and the operator may see. */
export const deadLetterFilter = (input: DeadLetterInput, { organizationId }: Operator): DeadLetterFilter =>
  defined({
    organizationId: organizationId ?? input.organization,
    endpointId: input.endpoint,
    groupId: input.group,
    eventType: input.type,
    reason: input.reason,
    status: input.status,
    from: input.from,
    to: input.to,
  })

/** Leaves out what is undefined. */
export const defined = <A extends Readonly<Record<string, unknown>>>(values: A): Defined<A> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<A>

type Defined<A> = { readonly [K in keyof A]?: Exclude<A[K], undefined> }

/** Returns inputs as the texts of a query or of hidden fields; what is undefined stays so. */
export const toTexts = (input: Readonly<Record<string, unknown>>): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, value === undefined ? undefined : String(value)]),
  )

/** Returns inputs as the flags of a command. */
export const toFlags = (input: Readonly<Record<string, unknown>>): string =>
  Object.entries(input)
    .flatMap(([name, value]) => (value === undefined ? [] : [` --${name} ${value}`]))
    .join("")

/** A place in a list of dead letters or groups, as a link to the next page names it: a time and an id. */
export const Place = Schema.String.check(Schema.isPattern(/^[\d:.TZ-]+~[a-z]{3}_[0-9a-f]{32}$/)).pipe(
  Schema.annotate({ expected: "the place that a link to the next page names" }),
)

export const toPlace = (at: Timestamp, id: string): string => `${at}~${id}`

export const fromPlace = (text: string): { readonly at: Timestamp; readonly id: string } => {
  const [at = "", id = ""] = text.split("~")
  return { at: at as Timestamp, id }
}

export const deadLetterPlace = (text: string): DeadLetterPosition => {
  const { at, id } = fromPlace(text)
  return { finishedAt: at, id: id as DeadLetterPosition["id"] }
}
