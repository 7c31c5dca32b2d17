import { EVENTS } from "@outreach/contract"
import { DeliveryLedger } from "@outreach/domain/deliveries/DeliveryLedger"
import { Effect, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { given } from "../inputs/given.ts"
import { identifier } from "../inputs/identifier.ts"
import { instant } from "../inputs/instant.ts"
import { limit } from "../inputs/limit.ts"
import { print, printPage } from "../output/Output.ts"
import { printDelivery } from "./deliveries.ts"

/** The delivery is no dead letter, or was replayed before. */
class NotDeadLetter extends Schema.TaggedError<NotDeadLetter>()("NotDeadLetter", {
  deliveryIds: Schema.Array(Schema.String),
  replayed: Schema.Int,
}) {
  override get message(): string {
    const done = this.replayed === 0 ? "" : ` The other ${this.replayed} were replayed.`
    return `Not among the dead letters: ${this.deliveryIds.join(", ")}.${done}`
  }
}

/** It is not clear which dead letters are meant. */
class UnclearSelection extends Schema.TaggedError<UnclearSelection>()("UnclearSelection", {}) {
  override get message(): string {
    return "Say which dead letters to replay in one way: by their ids, by filters such as --endpoint, or with --all."
  }
}

const filters = {
  endpoint: Flag.String("endpoint").pipe(
    Flag.withDescription("Only those to this endpoint, whe_…"),
    Flag.filterMap(...identifier("endpoint")),
    Flag.optional,
  ),
  type: Flag.Literals("type", Object.keys(EVENTS)).pipe(
    Flag.withMetavar("event-type"),
    Flag.withDescription("Only events of this type, such as outreach.email_sent"),
    Flag.optional,
  ),
  reason: Flag.Literals("reason", ["rejected", "exhausted"]).pipe(
    Flag.withDescription("Only those refused by the partner, or only those out of attempts"),
    Flag.optional,
  ),
  from: Flag.String("from").pipe(
    Flag.withDescription("Only those set aside at this time or later, such as 2026-12-01T09:00:00Z"),
    Flag.filterMap(...instant),
    Flag.optional,
  ),
  to: Flag.String("to").pipe(
    Flag.withDescription("Only those set aside before this time"),
    Flag.filterMap(...instant),
    Flag.optional,
  ),
}

const list = Command.make(
  "list",
  { ...filters, limit },
  Effect.fn("ops.dead-letters.list")(function* ({ endpoint, type, reason, from, to, limit }) {
    const ledger = yield* DeliveryLedger
    const filter = given({ endpointId: endpoint, eventType: type, reason, from, to })
    const rows = yield* ledger.deadLetters(filter, limit + 1)
    yield* printPage(rows, limit, ["id", "endpointId", "eventType", "state", "attempts", "finishedAt"])
  }),
).pipe(Command.withDescription("List the dead letters that were not replayed, newest first"))

const show = Command.make(
  "show",
  {
    delivery: Argument.String("delivery").pipe(
      Argument.withDescription("The delivery's id, dlv_…"),
      Argument.filterMap(...identifier("delivery")),
    ),
  },
  Effect.fn("ops.dead-letters.show")(function* ({ delivery: id }) {
    const found = yield* (yield* DeliveryLedger).find(id)
    const { state } = found.delivery
    if (state !== "rejected" && state !== "exhausted") {
      return yield* new NotDeadLetter({ deliveryIds: [id], replayed: 0 })
    }
    yield* printDelivery(found)
  }),
).pipe(Command.withDescription("Show a dead letter with its attempts"))

const replay = Command.make(
  "replay",
  {
    ...filters,
    all: Flag.Boolean("all").pipe(Flag.withDescription("Replay every dead letter"), Flag.withDefault(false)),
    deliveries: Argument.String("delivery").pipe(
      Argument.withDescription("Ids of dead letters, dlv_…"),
      Argument.filterMap(...identifier("delivery")),
      Argument.variadic(),
    ),
  },
  Effect.fn("ops.dead-letters.replay")(function* ({ endpoint, type, reason, from, to, all, deliveries }) {
    const ledger = yield* DeliveryLedger
    const filter = given({ endpointId: endpoint, eventType: type, reason, from, to })
    const ways = [all, deliveries.length > 0, Object.keys(filter).length > 0]
    if (ways.filter(Boolean).length !== 1) return yield* new UnclearSelection()
    let replayed = 0
    const missed: Array<string> = []
    if (deliveries.length === 0) replayed = yield* ledger.replay(filter)
    for (const deliveryId of new Set(deliveries)) {
      const count = yield* ledger.replay({ deliveryId })
      replayed += count
      if (count === 0) missed.push(deliveryId)
    }
    if (missed.length > 0) return yield* new NotDeadLetter({ deliveryIds: missed, replayed })
    yield* print({ replayed }, () => `Replayed ${replayed} dead ${replayed === 1 ? "letter" : "letters"}.`)
  }),
).pipe(
  Command.withDescription("Deliver dead letters again, from attempt 1; their history stays"),
  Command.withExamples([
    { command: "ops dead-letters replay dlv_…" },
    { command: "ops dead-letters replay --endpoint whe_… --reason exhausted" },
  ]),
)

/** `ops dead-letters …` */
export const deadLetters = Command.make("dead-letters").pipe(
  Command.withDescription("Deliveries that were rejected or ran out of attempts"),
  Command.withSubcommands([list, show, replay]),
)
