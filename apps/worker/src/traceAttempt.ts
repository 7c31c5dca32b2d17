import type { Attempted } from "@outreach/domain/deliveries/Deliveries"
import type { DeliveryLease } from "@outreach/domain/deliveries/Delivery"
import { Effect, Option } from "effect"
import { Headers, HttpTraceContext } from "effect/http"

/**
 * Makes an attempt within a span that says whose it is and what came of it.
 *
 * It begins a trace, linked to the one that published the event: a trace of all attempts could last as long as the schedule, 31 hours.
 */
export const traceAttempt = (lease: DeliveryLease, attempt: Effect.Effect<Attempted>): Effect.Effect<Attempted> =>
  Effect.useSpan(
    "attempt delivery",
    {
      root: true,
      kind: "client",
      links: publication(lease),
      attributes: {
        "outreach.event.id": lease.eventId,
        "outreach.delivery.id": lease.id,
        "outreach.endpoint.id": lease.endpointId,
        "outreach.attempt": lease.attempt,
      },
    },
    (span) =>
      Effect.tap(attempt, ({ attempt: { status }, outcome, settlement, settled }) =>
        Effect.sync(() => {
          if (status !== null) span.attribute("http.response.status_code", status)
          span.attribute("outreach.outcome", outcome.reason)
          span.attribute("outreach.settlement", settled ? settlement.state : "lease_lost")
        }),
      ),
  )

const publication = ({ traceparent }: DeliveryLease) =>
  traceparent === null
    ? []
    : Option.match(HttpTraceContext.w3c(Headers.fromRecordUnsafe({ traceparent })), {
        onNone: () => [],
        onSome: (span) => [{ span, attributes: {} }],
      })
