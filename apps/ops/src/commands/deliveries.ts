import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import { retryDelivery } from "@outreach/backoffice/deliveries/retryDelivery"
import { type Attempt, DELIVERY_STATES, type DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { CampaignId, DeliveryId, EventId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { changing, reading, revealing } from "../audit/Access.ts"
import { endpointFilter, eventTypeFilter, limit } from "../inputs/commonFlags.ts"
import { parsedArgument, parsedFlag } from "../inputs/parsedInput.ts"
import { pickDefined } from "../inputs/pickDefined.ts"
import { instant } from "../inputs/times.ts"
import { formatRecord, formatRows, print, printPage } from "../output/Output.ts"

const list = reading(
  "list",
  {
    endpoint: endpointFilter,
    state: Flag.Literals("state", DELIVERY_STATES).pipe(
      Flag.withDescription("Only those in this state"),
      Flag.optional,
    ),
    event: parsedFlag("event", EventId, "Only those of this event, evt_…").pipe(Flag.optional),
    type: eventTypeFilter,
    campaign: parsedFlag("campaign", CampaignId, "Only events of this campaign, cmp_…").pipe(Flag.optional),
    from: instant("from", "Only those created at this time or later, such as 2026-12-01T09:00:00Z").pipe(Flag.optional),
    to: instant("to", "Only those created before this time; to continue a list, give the last row's time").pipe(
      Flag.optional,
    ),
    limit,
  },
  Effect.fn("ops.deliveries.list")(function* ({ endpoint, state, event, type, campaign, from, to, limit }) {
    const repository = yield* DeliveryReader
    const filter = { endpointId: endpoint, state, eventId: event, eventType: type, campaignId: campaign, from, to }
    const rows = yield* repository.list({ ...pickDefined(filter), limit: limit + 1 })
    yield* printPage(rows, limit, ["id", "endpointId", "eventType", "state", "attempts", "dueAt", "createdAt"])
  }),
).pipe(
  Command.withDescription(
    "List deliveries, newest first; --campaign and --type scan every delivery between --from and --to",
  ),
)

const show = reading(
  "show",
  { delivery: parsedArgument("delivery", DeliveryId, "The delivery's id, dlv_…") },
  Effect.fn("ops.deliveries.show")(function* ({ delivery }) {
    yield* printDelivery(yield* (yield* DeliveryReader).find(delivery))
  }),
).pipe(Command.withDescription("Show a delivery with its attempts"))

const request = revealing(
  "request",
  { delivery: parsedArgument("delivery", DeliveryId, "The delivery's id, dlv_…") },
  Effect.fn("ops.deliveries.request")(function* ({ delivery: id }) {
    const repository = yield* DeliveryReader
    const found = yield* repository.find(id)
    const request = yield* repository.request(found.delivery)
    const sent = { ...request, attempts: found.attempts }
    yield* print(sent, () => `POST ${request.url}\n\n${request.body ?? EVENT_DROPPED.trim()}`)
  }),
).pipe(Command.withDescription("Show the body that is sent of a delivery, which holds personal data"))

const retry = changing(
  "retry",
  { delivery: parsedArgument("delivery", DeliveryId, "The delivery's id, dlv_…") },
  Effect.fn("ops.deliveries.retry")(function* ({ delivery }) {
    yield* retryDelivery(delivery)
    yield* print({ delivery }, () => `${delivery} is due now.`)
  }),
).pipe(Command.withDescription("Make the next attempt at a delivery now that waits for it"))

/** `ops deliveries …` */
export const deliveries = Command.make("deliveries").pipe(
  Command.withDescription("Events on their way to the partners"),
  Command.withSubcommands([list, show, request, retry]),
  Command.provide(DeliveryReader.layer),
)

const EVENT_DROPPED =
  "\n\nIts event is no longer stored (EVENTS_MONTHS), so its type is not known and it cannot be sent again."

/** Prints a delivery with its attempts. */
export const printDelivery = (found: {
  readonly delivery: DeliverySummary
  readonly attempts: ReadonlyArray<Attempt>
}) =>
  print(
    found,
    () =>
      `${formatRecord(found.delivery)}${found.delivery.eventType === null ? EVENT_DROPPED : ""}\n\nAttempts\n${formatRows(found.attempts, ["number", "startedAt", "latencyMs", "status", "outcome", "response"])}`,
  )
