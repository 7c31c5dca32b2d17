import { DeadLetterReader } from "@outreach/backoffice/deliveries/DeadLetterReader"
import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { DeliveryId } from "@outreach/domain/Identifier"
import { DeadLetterRepository } from "@outreach/postgres/deliveries/DeadLetterRepository"
import { ReplayJobQueue } from "@outreach/postgres/deliveries/ReplayJobQueue"
import { Layer } from "effect"
import { group, reading } from "../Declaration.ts"
import { purge } from "../deadLetters/purge.ts"
import { notDeadLetters, replay } from "../deadLetters/replay.ts"
import { printDelivery } from "../deliveries/printDelivery.ts"
import { deadLetterFilters, limit } from "../inputs/filters.ts"
import { argument } from "../inputs/Input.ts"

const list = reading({
  about: "List the dead letters that were not replayed, newest first",
  input: { ...deadLetterFilters, limit },
  run: ({ limit, ...filter }) => DeadLetterReader.use(({ list }) => list(filter, limit + 1)),
  columns: ["id", "endpointId", "eventType", "state", "attempts", "finishedAt"],
})

const { organizationId, endpointId, reason, status } = deadLetterFilters

const groups = reading({
  about: "List the dead letters that were not replayed by endpoint, reason, status and first line of the response",
  input: { organizationId, endpointId, reason, status, limit },
  run: ({ limit, ...filter }) => FailureGroupReader.use(({ list }) => list(filter, limit + 1)),
  columns: ["id", "endpointId", "reason", "status", "firstLine", "open", "firstAt", "lastAt"],
})

const show = reading({
  about: "Show a dead letter with its attempts",
  input: { deliveryId: argument(DeliveryId, "The delivery's id, dlv_…") },
  *run({ deliveryId }) {
    const found = yield* DeliveryReader.use(({ find }) => find(deliveryId))
    if (!DEAD_LETTER_REASONS.some((reason) => reason === found.delivery.state)) {
      return yield* notDeadLetters([deliveryId], 0)
    }
    yield* printDelivery(found)
  },
})

/** `ops dead-letters …` */
export const deadLetters = group({
  about: "Deliveries that were rejected, ran out of attempts, or crashed several workers",
  commands: { list, groups, show, replay, purge },
  services: Layer.mergeAll(
    DeadLetterReader.layer,
    DeadLetterRepository.layer,
    DeliveryReader.layer,
    FailureGroupReader.layer,
    ReplayJobQueue.layer,
  ),
})
