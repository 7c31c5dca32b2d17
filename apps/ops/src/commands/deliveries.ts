import { type Attempt, DELIVERY_STATES, type DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { DeliveryLedger } from "@outreach/domain/deliveries/DeliveryLedger"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { given } from "../inputs/given.ts"
import { identifier } from "../inputs/identifier.ts"
import { limit } from "../inputs/limit.ts"
import { formatRecord, formatRows, print, printPage } from "../output/Output.ts"

const list = Command.make(
  "list",
  {
    endpoint: Flag.String("endpoint").pipe(
      Flag.withDescription("Only those to this endpoint, whe_…"),
      Flag.filterMap(...identifier("endpoint")),
      Flag.optional,
    ),
    state: Flag.Literals("state", DELIVERY_STATES).pipe(
      Flag.withDescription("Only those in this state"),
      Flag.optional,
    ),
    limit,
  },
  Effect.fn("ops.deliveries.list")(function* ({ endpoint, state, limit }) {
    const ledger = yield* DeliveryLedger
    const rows = yield* ledger.list({ ...given({ endpointId: endpoint, state }), limit: limit + 1 })
    yield* printPage(rows, limit, ["id", "endpointId", "eventType", "state", "attempts", "dueAt", "createdAt"])
  }),
).pipe(Command.withDescription("List deliveries, newest first"))

const show = Command.make(
  "show",
  {
    delivery: Argument.String("delivery").pipe(
      Argument.withDescription("The delivery's id, dlv_…"),
      Argument.filterMap(...identifier("delivery")),
    ),
  },
  Effect.fn("ops.deliveries.show")(function* ({ delivery }) {
    yield* printDelivery(yield* (yield* DeliveryLedger).find(delivery))
  }),
).pipe(Command.withDescription("Show a delivery with its attempts"))

/** `ops deliveries …` */
export const deliveries = Command.make("deliveries").pipe(
  Command.withDescription("Events on their way to the partners"),
  Command.withSubcommands([list, show]),
)

/** Prints a delivery with its attempts. */
export const printDelivery = (found: {
  readonly delivery: DeliverySummary
  readonly attempts: ReadonlyArray<Attempt>
}) =>
  print(
    found,
    () =>
      `${formatRecord(found.delivery)}\n\nAttempts\n${formatRows(found.attempts, ["number", "startedAt", "latencyMs", "status", "outcome", "response"])}`,
  )
