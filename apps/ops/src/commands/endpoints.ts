import { DeliveryOutcomeReader } from "@outreach/backoffice/deliveries/DeliveryOutcomeReader"
import { commaSeparated } from "@outreach/domain/commaSeparated"
import { MAX_IN_FLIGHT } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { createEndpoint, updateEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { outboundEventTypes } from "@outreach/domain/events/outboundEventTypes"
import { EndpointId } from "@outreach/domain/Identifier"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { noneOr, wholeNumber } from "@outreach/domain/textSchema"
import { EndpointRepositoryPg } from "@outreach/postgres/deliveries/EndpointRepositoryPg"
import { ReplayJobQueue } from "@outreach/postgres/deliveries/ReplayJobQueue"
import { Partitions } from "@outreach/postgres/Partitions"
import { Clock, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { changing, reading, revealing } from "../audit/Access.ts"
import { replayLog } from "../endpoints/replayLog.ts"
import { sendTest } from "../endpoints/sendTest.ts"
import { organization } from "../inputs/commonFlags.ts"
import { NothingToUpdate } from "../inputs/NothingToUpdate.ts"
import { parsedArgument, parsedFlag, switchFlag } from "../inputs/parsedInput.ts"
import { pickDefined } from "../inputs/pickDefined.ts"
import { instant } from "../inputs/times.ts"
import { noteKeptFrom } from "../output/noteKeptFrom.ts"
import { printList, printRecord } from "../output/Output.ts"
import { Target } from "../Target.ts"

const ALL_TYPES = "all"

const MaxInFlight = noneOr(wholeNumber(1, MAX_IN_FLIGHT), `a whole number from 1 to ${MAX_IN_FLIGHT}, or none`)

const standardWebhooks = Flag.Boolean("standard-webhooks").pipe(
  Flag.withDescription(
    "Also send the headers of Standard Webhooks, for its libraries; --no-standard-webhooks leaves them out again",
  ),
  Flag.optional,
)

const create = changing(
  "create",
  {
    organization,
    url: Flag.String("url").pipe(Flag.withDescription("Where the webhooks go, an https address")),
    types: parsedFlag(
      "types",
      commaSeparated(outboundEventTypes),
      "The event types it receives, separated by commas (default all)",
    ).pipe(Flag.optional),
    since: instant("since", "Also send the events published at this time or later, such as 2026-12-01T09:00:00Z").pipe(
      Flag.optional,
    ),
    standardWebhooks,
  },
  Effect.fn("ops.endpoints.create")(function* ({ organization: organizationId, url, types, since, standardWebhooks }) {
    const { allowHttp } = yield* Target
    const options = pickDefined({ since, standardWebhooks })
    const endpoint = { organizationId, url, eventTypes: Option.getOrNull(types), ...options }
    if (Option.isSome(since)) yield* noteKeptFrom(since.value)
    yield* printRecord(yield* createEndpoint(endpoint, { allowPrivate: allowHttp }))
  }),
).pipe(
  Command.withDescription(
    "Add a webhook endpoint; http addresses need the sandbox or WEBHOOK_ALLOW_PRIVATE_ADDRESSES=true",
  ),
)

const list = reading(
  "list",
  { organization: organization.pipe(Flag.optional) },
  Effect.fn("ops.endpoints.list")(function* (input) {
    const endpoints = yield* (yield* EndpointRepository).list(Option.getOrUndefined(input.organization))
    const columns = [
      "id",
      "url",
      "enabled",
      "standardWebhooks",
      "breaker",
      "position",
      "lagEvents",
      "lagSeconds",
      "waiting",
      "inFlight",
      "owner",
    ] as const
    yield* printList(endpoints, columns)
  }),
).pipe(
  Command.withDescription(
    "List the webhook endpoints and their state, oldest first; of one organization or of all. What waits is counted up to 1,000 for each",
  ),
)

const one = { endpoint: parsedArgument("endpoint", EndpointId, "The endpoint's id, whe_…") }

const show = revealing(
  "show",
  { ...one, reveal: switchFlag("reveal", "Show the whole address, which may hold a secret of the partner") },
  Effect.fn("ops.endpoints.show")(function* ({ endpoint, reveal }) {
    const endpoints = yield* EndpointRepository
    const found = yield* endpoints.find(endpoint)
    yield* printRecord(reveal ? { ...found, url: yield* endpoints.address(endpoint) } : found)
  }),
).pipe(
  Command.withDescription("Show an endpoint: its breaker, its position in the event log, and its waiting deliveries"),
)

/** For how many hours the outcomes are counted. */
const OUTCOME_HOURS = 24

const outcomes = reading(
  "outcomes",
  one,
  Effect.fn("ops.endpoints.outcomes")(function* ({ endpoint }) {
    yield* (yield* EndpointRepository).find(endpoint)
    const now = yield* Clock.currentTimeMillis
    const [from, to] = [fromUnixMillis(now - OUTCOME_HOURS * 3_600_000), fromUnixMillis(now)]
    const summary = yield* (yield* DeliveryOutcomeReader).summary({ endpointId: endpoint, from, to })
    yield* printRecord({ endpointId: endpoint, from, to, ...summary })
  }),
).pipe(
  Command.withDescription(
    `Count the outcomes of an endpoint's calls in the last ${OUTCOME_HOURS} hours; with the latency that half of them did not exceed, and 99 of 100`,
  ),
)

const breaker = reading(
  "breaker",
  one,
  Effect.fn("ops.endpoints.breaker")(function* ({ endpoint }) {
    const repository = yield* EndpointRepository
    yield* repository.find(endpoint)
    yield* printList(yield* repository.breakerChanges(endpoint), ["changedAt", "breaker", "failures"])
  }),
).pipe(Command.withDescription("List when an endpoint's breaker opened and closed, newest first"))

const update = changing(
  "update",
  {
    ...one,
    url: Flag.String("url").pipe(Flag.withDescription("Where the webhooks go from now on"), Flag.optional),
    types: parsedFlag(
      "types",
      commaSeparated([ALL_TYPES, ...outboundEventTypes]),
      "The event types it receives from now on, separated by commas, or all",
    ).pipe(Flag.optional),
    maxInFlight: parsedFlag(
      "max-in-flight",
      MaxInFlight,
      "The maximum of calls in flight to it from now on, or none for the workers' default",
    ).pipe(Flag.optional),
    standardWebhooks,
  },
  Effect.fn("ops.endpoints.update")(function* ({ endpoint, url, types, maxInFlight, standardWebhooks }) {
    if ([url, types, maxInFlight, standardWebhooks].every((input: Option.Option<unknown>) => Option.isNone(input))) {
      return yield* new NothingToUpdate({ flags: ["--url", "--types", "--max-in-flight", "--standard-webhooks"] })
    }
    const { allowHttp } = yield* Target
    const eventTypes = Option.map(types, (types) => (types.includes(ALL_TYPES) ? null : types))
    const changes = pickDefined({ url, eventTypes, maxInFlight, standardWebhooks })
    yield* printRecord(yield* updateEndpoint(endpoint, changes, { allowPrivate: allowHttp }))
  }),
).pipe(
  Command.withDescription(
    "Change an endpoint's address, event types, maximum of calls in flight or headers; waiting deliveries go to the new address",
  ),
)

const disable = changing(
  "disable",
  one,
  Effect.fn("ops.endpoints.disable")(function* ({ endpoint }) {
    yield* printRecord(yield* (yield* EndpointRepository).disable(endpoint))
  }),
).pipe(Command.withDescription("Hold an endpoint's deliveries until it is enabled"))

const enable = changing(
  "enable",
  one,
  Effect.fn("ops.endpoints.enable")(function* ({ endpoint }) {
    yield* printRecord(yield* (yield* EndpointRepository).enable(endpoint))
  }),
).pipe(Command.withDescription("Resume an endpoint's deliveries at once, even if it failed before"))

/** `ops endpoints …` */
export const endpoints = Command.make("endpoints").pipe(
  Command.withDescription("The partners' webhook endpoints"),
  Command.withSubcommands([create, list, show, outcomes, breaker, update, sendTest, replayLog, disable, enable]),
  Command.provide(
    Layer.mergeAll(EndpointRepositoryPg, DeliveryOutcomeReader.layer, ReplayJobQueue.layer, Partitions.layer),
  ),
)
