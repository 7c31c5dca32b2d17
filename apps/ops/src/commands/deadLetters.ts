import { DeadLetterReader } from "@outreach/backoffice/deliveries/DeadLetterReader"
import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { DeliveryId } from "@outreach/domain/Identifier"
import { DeadLetterRepository } from "@outreach/postgres/deliveries/DeadLetterRepository"
import { ReplayJobQueue } from "@outreach/postgres/deliveries/ReplayJobQueue"
import { Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { reading } from "../audit/Access.ts"
import { purge } from "../deadLetters/purge.ts"
import { NotDeadLetter, replay } from "../deadLetters/replay.ts"
import { limit, organization } from "../inputs/commonFlags.ts"
import { deadLetterFilter, deadLetterFilters } from "../inputs/deadLetterFilters.ts"
import { parsedArgument } from "../inputs/parsedInput.ts"
import { pickDefined } from "../inputs/pickDefined.ts"
import { printPage } from "../output/Output.ts"
import { printDelivery } from "./deliveries.ts"

const list = reading(
  "list",
  { ...deadLetterFilters, limit },
  Effect.fn("ops.dead-letters.list")(function* (input) {
    const { limit } = input
    const rows = yield* (yield* DeadLetterReader).list(deadLetterFilter(input), limit + 1)
    yield* printPage(rows, limit, ["id", "endpointId", "eventType", "state", "attempts", "finishedAt"])
  }),
).pipe(Command.withDescription("List the dead letters that were not replayed, newest first"))

const groups = reading(
  "groups",
  {
    organization: organization.pipe(Flag.optional),
    endpoint: deadLetterFilters.endpoint,
    reason: deadLetterFilters.reason,
    status: deadLetterFilters.status,
    limit,
  },
  Effect.fn("ops.dead-letters.groups")(function* ({ organization, endpoint, reason, status, limit }) {
    const filter = pickDefined({ organizationId: organization, endpointId: endpoint, reason, status })
    const rows = yield* (yield* FailureGroupReader).list(filter, limit + 1)
    yield* printPage(rows, limit, ["id", "endpointId", "reason", "status", "firstLine", "open", "firstAt", "lastAt"])
  }),
).pipe(
  Command.withDescription(
    "List the dead letters that were not replayed by endpoint, reason, status and first line of the response",
  ),
)

const show = reading(
  "show",
  { delivery: parsedArgument("delivery", DeliveryId, "The delivery's id, dlv_…") },
  Effect.fn("ops.dead-letters.show")(function* ({ delivery: id }) {
    const found = yield* (yield* DeliveryReader).find(id)
    if (!DEAD_LETTER_REASONS.some((reason) => reason === found.delivery.state)) {
      return yield* new NotDeadLetter({ deliveryIds: [id], replayed: 0 })
    }
    yield* printDelivery(found)
  }),
).pipe(Command.withDescription("Show a dead letter with its attempts"))

/** `ops dead-letters …` */
export const deadLetters = Command.make("dead-letters").pipe(
  Command.withDescription("Deliveries that were rejected, ran out of attempts, or crashed several workers"),
  Command.withSubcommands([list, groups, show, replay, purge]),
  Command.provide(
    Layer.mergeAll(
      DeadLetterReader.layer,
      DeadLetterRepository.layer,
      DeliveryReader.layer,
      FailureGroupReader.layer,
      ReplayJobQueue.layer,
    ),
  ),
)
