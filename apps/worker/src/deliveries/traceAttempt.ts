import type { AttemptResult } from "@outreach/domain/deliveries/Deliveries"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import { Effect, Option } from "effect"
import { Headers, HttpTraceContext } from "effect/http"

/**
 * Creates an attempt within a span that says whose it is and what came of it.
 *
 * It begins a trace, linked to the one that published the event: a trace of all attempts could last as long as the schedule, 31 hours.
 */
export const traceAttempt = (delivery: Delivery, attempt: Effect.Effect<AttemptResult>): Effect.Effect<AttemptResult> =>
  Effect.useSpan(
    "attempt delivery",
    {
      root: true,
      kind: "client",
      links: publication(delivery),
      attributes: {
        "outreach.event.id": delivery.eventId,
        "outreach.delivery.id": delivery.id,
        "outreach.endpoint.id": delivery.endpointId,
        "outreach.attempt": delivery.attempt,
      },
    },
    (span) =>
      Effect.tap(attempt, ({ attempt: { status }, reason, settlement }) =>
        Effect.sync(() => {
          if (status !== null) span.attribute("http.response.status_code", status)
          span.attribute("outreach.outcome", reason)
          span.attribute("outreach.settlement", settlement.state)
        }),
      ),
  )

const publication = ({ traceparent }: Delivery) =>
  traceparent === null
    ? []
    : Option.match(HttpTraceContext.w3c(Headers.fromRecordUnsafe({ traceparent })), {
        onNone: () => [],
        onSome: (span) => [{ span, attributes: {} }],
      })
