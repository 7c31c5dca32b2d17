import { type EndpointId, type OrganizationId, SecretId } from "@outreach/domain/Identifier"
import { applyBatch } from "@outreach/domain/inbox/applyBatch"
import { InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { Effect } from "effect"

/** The signing secret that verified each event. */
export const SECRET_ID = SecretId.make(`sec_${"0".repeat(32)}`)

/** Stores an event as the receiver does. Most tests only set `data`; `more` sets the other fields. */
export const receiveEvent = Effect.fnUntraced(function* (
  from: { readonly organization: { readonly id: OrganizationId }; readonly endpoint: { readonly id: EndpointId } },
  eventId: string,
  type: string,
  data: Readonly<Record<string, unknown>>,
  more: Readonly<Record<string, unknown>> = {},
) {
  return yield* (yield* InboxRepository).receive({
    organizationId: from.organization.id,
    endpointId: from.endpoint.id,
    secretId: SECRET_ID,
    eventId,
    type,
    npi: typeof data["npi"] === "string" ? data["npi"] : null,
    body: JSON.stringify({ event_id: eventId, event_type: type, livemode: false, data, ...more }),
    traceparent: null,
  })
})

/** Applies a batch of each organization's events. Returns whether any was applied. */
export const applyBatches = Effect.gen(function* () {
  const { organizations } = yield* InboxRepository
  const done = yield* Effect.forEach(yield* organizations, applyBatch)
  return done.some((count) => count > 0)
})
