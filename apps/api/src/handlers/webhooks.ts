import { InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { currentTraceparent } from "@outreach/domain/TraceContext"
import { Effect } from "effect"
import type { Handler, HandlerInput } from "../http/Handlers.ts"

/** Stores a received event once per event id, and acknowledges it. The worker applies it later. */
export const receiveWebhook: Handler<"receiveWebhook"> = Effect.fnUntraced(function* ({
  caller: { organizationId, endpointId, secretId },
  body: { event_id: eventId, event_type: type, data },
  bodyText,
}: HandlerInput<"receiveWebhook">) {
  const npi = data["npi"]
  const receipt = yield* (yield* InboxRepository).receive({
    organizationId,
    endpointId,
    secretId,
    eventId,
    type,
    npi: typeof npi === "string" && /^\d{10}$/.test(npi) ? npi : null,
    body: bodyText,
    traceparent: yield* currentTraceparent,
  })
  if (receipt === "differs") {
    yield* Effect.logWarning("inbound event repeated with another body, keeping the first").pipe(
      Effect.annotateLogs({ organizationId, endpointId, eventId }),
    )
  }
  return { status: 200, headers: {}, body: { received: true } }
})
