import { retryDelivery as retry } from "@outreach/backoffice/deliveries/retryDelivery"
import { DeliveryId } from "@outreach/domain/Identifier"
import { DeadLetterRepository } from "@outreach/postgres/deliveries/DeadLetterRepository"
import { Effect, Schema } from "effect"
import { required } from "../../http/inputs.ts"
import { defineAction } from "../../http/Route.ts"

class NotDeadLetter extends Schema.TaggedError<NotDeadLetter>()("NotDeadLetter", { deliveryId: Schema.String }) {
  override get message(): string {
    return `The delivery ${this.deliveryId} is not among the dead letters, or was replayed before.`
  }
}

/** Makes the next attempt at a delivery now. */
export const retryDelivery = defineAction({
  path: "/deliveries/:delivery/retry",
  role: "operator",
  command: "deliveries retry",
  run: Effect.fnUntraced(function* ({ delivery }) {
    yield* retry(delivery)
    return {
      to: `/deliveries/${delivery}`,
      notice: "It is due now. A worker makes the attempt within a second, unless the endpoint's breaker is open.",
    }
  }),
})

/** Delivers one dead letter again, as a delivery of its own. */
export const replayDelivery = defineAction({
  path: "/deliveries/replay",
  role: "operator",
  command: "dead-letters replay",
  fields: { delivery: required(DeliveryId) },
  run: Effect.fnUntraced(function* ({ delivery }) {
    if (!(yield* (yield* DeadLetterRepository).replay(delivery))) {
      return yield* new NotDeadLetter({ deliveryId: delivery })
    }
    return { to: `/deliveries/${delivery}`, notice: "It is delivered again, from attempt 1, as a delivery of its own." }
  }),
})
