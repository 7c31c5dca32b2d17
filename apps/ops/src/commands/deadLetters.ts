import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { DeliveryId } from "@outreach/domain/Identifier"
import { DeadLetterRepository } from "@outreach/postgres/deliveries/DeadLetterRepository"
import { DeliveryRepository } from "@outreach/postgres/deliveries/DeliveryRepository"
import { ReplayJobQueue } from "@outreach/postgres/deliveries/ReplayJobQueue"
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { reading } from "../audit/Access.ts"
import { purge } from "../deadLetters/purge.ts"
import { NotDeadLetter, replay } from "../deadLetters/replay.ts"
import { limit } from "../inputs/commonFlags.ts"
import { deadLetterFilters } from "../inputs/deadLetterFilters.ts"
import { parsedArgument } from "../inputs/parsedInput.ts"
import { pickDefined } from "../inputs/pickDefined.ts"
import { printPage } from "../output/Output.ts"
import { printDelivery } from "./deliveries.ts"

const list = reading(
  "list",
  { ...deadLetterFilters, limit },
  Effect.fn("ops.dead-letters.list")(function* ({ endpoint, type, reason, from, to, limit }) {
    const deadLetters = yield* DeadLetterRepository
    const filter = pickDefined({ endpointId: endpoint, eventType: type, reason, from, to })
    const rows = yield* deadLetters.list(filter, limit + 1)
    yield* printPage(rows, limit, ["id", "endpointId", "eventType", "state", "attempts", "finishedAt"])
  }),
).pipe(Command.withDescription("List the dead letters that were not replayed, newest first"))

const show = reading(
  "show",
  { delivery: parsedArgument("delivery", DeliveryId, "The delivery's id, dlv_…") },
  Effect.fn("ops.dead-letters.show")(function* ({ delivery: id }) {
    const found = yield* (yield* DeliveryRepository).find(id)
    if (!DEAD_LETTER_REASONS.some((reason) => reason === found.delivery.state)) {
      return yield* new NotDeadLetter({ deliveryIds: [id], replayed: 0 })
    }
    yield* printDelivery(found)
  }),
).pipe(Command.withDescription("Show a dead letter with its attempts"))

/** `ops dead-letters …` */
export const deadLetters = Command.make("dead-letters").pipe(
  Command.withDescription("Deliveries that were rejected, ran out of attempts, or crashed several workers"),
  Command.withSubcommands([list, show, replay, purge]),
  Command.provide(Layer.mergeAll(DeadLetterRepository.layer, DeliveryRepository.layer, ReplayJobQueue.layer)),
)
