import { DeadLetterReader } from "@outreach/backoffice/deliveries/DeadLetterReader"
import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { formatCounted } from "@outreach/backoffice/format"
import { commaSeparated } from "@outreach/domain/commaSeparated"
import { MAX_PROBE_WAIT_SECONDS } from "@outreach/domain/deliveries/breaker"
import { describeSchedule, RetryDelays, toRetryDelays } from "@outreach/domain/deliveries/deliverySchedule"
import { describeRemoval } from "@outreach/domain/deliveries/describeRemoval"
import { InFlight, PerSecond } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import {
  createEndpoint,
  removeEndpoint,
  TEST_TIMEOUT_MS,
  testEndpoint,
  updateEndpoint,
} from "@outreach/domain/deliveries/Endpoints"
import { DEFAULT_REPLAYS_PER_SECOND } from "@outreach/domain/deliveries/ReplayJobQueue"
import { createDeadLetterReplay, createLogReplay } from "@outreach/domain/deliveries/Replays"
import { formatRetryStatuses, RetryStatuses, toRetryStatuses } from "@outreach/domain/deliveries/RetryStatuses"
import { outboundEventTypes } from "@outreach/domain/events/outboundEventTypes"
import { expectedBy } from "@outreach/domain/parseInput"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { textSchema } from "@outreach/domain/textSchema"
import { EndpointRepositoryPg } from "@outreach/postgres/deliveries/EndpointRepositoryPg"
import { ReplayJobQueuePg } from "@outreach/postgres/deliveries/ReplayJobQueuePg"
import { Partitions } from "@outreach/postgres/Partitions"
import { dnsServers } from "@outreach/process/dnsServers"
import { webhookRetryDelays } from "@outreach/process/settings"
import { partnerNames } from "@outreach/webhooks/partnerNames"
import { Effect, Layer, Redacted, Schema } from "effect"
import { changing, group, reading, revealing } from "../Declaration.ts"
import { printWhenEnded, replayFlags, replayRate } from "../deadLetters/followReplay.ts"
import { endpointId, instant, organizationId, pastInstant } from "../inputs/filters.ts"
import { flag, onlySwitch, onOrOff, optional, switchFlag, text, type Values } from "../inputs/Input.ts"
import { confirm, formatRecord, print, printToStderr, refuse, yes } from "../output/Output.ts"
import { lazySigningSecrets, signingSecrets } from "../secretCipher.ts"
import { Target } from "../Target.ts"

/** The settings of an endpoint at its creation and later. */
const settings = {
  types: optional(
    flag(
      Schema.Union([
        textSchema("all", (text) => (text === "all" ? ["all"] : undefined)),
        commaSeparated(outboundEventTypes),
      ]).annotate({
        expected: `all, or ${expectedBy(commaSeparated(outboundEventTypes))}`,
      }),
      "Event types to receive, separated by commas (default all)",
    ),
  ),
  perSecond: optional(
    flag(
      PerSecond,
      "Maximum number of calls started per second, or none; live events take precedence over retries and replays",
    ),
  ),
  inFlight: optional(
    flag(InFlight, "Maximum number of concurrent calls, or none for the workers' limit, which is the upper limit"),
  ),
  retryStatuses: optional(
    flag(
      RetryStatuses,
      "Statuses such as 408,429,503: listed 4xx are retried, and Retry-After is honoured for all of them; with 410=disable, a 410 disables the endpoint. none: every 4xx is final (default)",
    ),
  ),
  retrySchedule: optional(
    flag(
      RetryDelays,
      `Delays between attempts, such as 10s,1m,1h; or default for those of the deployment. They can take longer: after five failures in a row, calls go out one by one, up to ${MAX_PROBE_WAIT_SECONDS}s apart`,
    ),
  ),
  standardWebhooks: optional(onOrOff("Also send the headers of Standard Webhooks; --no-standard-webhooks stops it")),
  disableWhenFailing: optional(
    onOrOff(
      "Notify the contacts when every call has failed for a day, and disable the endpoint after five; --no-disable-when-failing switches both off",
    ),
  ),
}

/** Returns the given `settings` as an endpoint's fields, and the other given values. */
const toSettings = <A extends Values<typeof settings>>({
  types,
  inFlight,
  retryStatuses,
  retrySchedule,
  ...others
}: A) => ({
  ...others,
  ...(types && { eventTypes: types.includes("all") ? null : types }),
  ...(inFlight !== undefined && { maxInFlight: inFlight }),
  ...(retryStatuses && toRetryStatuses(retryStatuses)),
  ...(retrySchedule && { retryDelays: toRetryDelays(retrySchedule) }),
})

const create = changing({
  about: "Add a webhook endpoint; http addresses need the sandbox or WEBHOOK_ALLOW_PRIVATE_ADDRESSES=true",
  examples: [
    "ops endpoints create --organization org_… --url https://partner.example/webhooks",
    "ops endpoints create --organization org_… --url https://partner.example/bounces --types outreach.email_bounced --own-secret",
  ],
  input: {
    organizationId,
    url: text("The address for webhooks, https"),
    since: optional(pastInstant("Also send the events published at this time or later, such as 2026-11-01T09:00:00Z")),
    ...settings,
    ownSecret: onlySwitch("Create a separate signing secret, shown once, instead of using the organization's"),
  },
  *run({ ownSecret: ownSecrets, ...given }) {
    const { allowHttp } = yield* Target
    const kept = yield* readKeptFrom(given.since)
    const { endpoint, secret } = yield* createEndpoint(
      { ...toSettings(given), ownSecrets },
      { allowPrivate: allowHttp },
    )
    return { ...endpoint, ...(secret && { signingSecret: Redacted.value(secret) }), ...kept }
  },
  note: ({ signingSecret }) => signingSecret && "\nThe signing secret is shown this once; keep it now.",
  services: lazySigningSecrets,
})

const list = reading({
  about:
    "List the webhook endpoints and their state, oldest first, of one organization or all. What waits is counted up to 1,000 for each",
  input: {
    organizationId: optional(organizationId),
    removed: onlySwitch("List removed endpoints instead"),
  },
  run: ({ organizationId, removed }) =>
    EndpointRepository.use(({ list }) => list(organizationId, removed ? "removed" : "present")),
  columns: [
    "id",
    "url",
    "enabled",
    "disabledReason",
    "standardWebhooks",
    "perSecond",
    "maxInFlight",
    "breaker",
    "position",
    "lagEvents",
    "lagSeconds",
    "waiting",
    "inFlight",
    "owner",
  ],
})

const show = revealing({
  about: "Show an endpoint: its breaker, its schedule, its position in the event log, and its waiting deliveries",
  input: { endpointId, reveal: switchFlag("Show the whole address, which may hold a secret of the partner") },
  *run({ endpointId, reveal }) {
    const endpoints = yield* EndpointRepository
    const found = yield* endpoints.find(endpointId)
    const retrySchedule = describeSchedule(found.retryDelays, yield* webhookRetryDelays)
    return { ...found, retrySchedule, ...(reveal && { url: yield* endpoints.address(endpointId) }) }
  },
  format: ({ retryDelays: _, ...found }) => formatRecord({ ...found, retryStatuses: formatRetryStatuses(found) }),
})

const update = changing({
  about:
    "Change an endpoint's address, event types, limits, headers or retries. Pending deliveries go to the new address",
  examples: [
    "ops endpoints update whe_… --per-second 10 --in-flight 2",
    "ops endpoints update whe_… --retry-statuses 408,429,503,410=disable --retry-schedule 10s,1m,10m,1h",
  ],
  input: {
    endpointId,
    changes: {
      url: optional(text("The new address for webhooks")),
      ...settings,
    },
  },
  *run({ endpointId, changes }) {
    const { allowHttp } = yield* Target
    return yield* updateEndpoint(endpointId, toSettings(changes), { allowPrivate: allowHttp })
  },
})

const disable = changing({
  about: "Disable an endpoint; its deliveries stay queued until it is enabled",
  input: { endpointId },
  run: ({ endpointId }) => EndpointRepository.use(({ disable }) => disable(endpointId)),
})

const enable = changing({
  about: "Enable an endpoint immediately, even if it failed before; shows the events it missed since its last success",
  examples: ["ops endpoints enable whe_…", "ops endpoints enable whe_… --replay-missed"],
  input: {
    endpointId,
    replayMissed: switchFlag("Also send each event that became a dead letter since its last success"),
    rate: optional(replayRate),
  },
  *run({ endpointId, replayMissed, rate }) {
    if (rate !== undefined && !replayMissed) {
      return yield* refuse("NothingToReplay", "--rate is the rate of --replay-missed; give both, or neither.")
    }
    const { count: missedEvents, since: missedSince } = yield* DeadLetterReader.use(({ missedBy }) =>
      missedBy(endpointId),
    )
    // Before it is enabled: replayed events wait, and none is lost if the command stops here.
    const replay =
      replayMissed && missedSince !== null
        ? yield* createDeadLetterReplay({ endpointId, from: missedSince }, rate ?? DEFAULT_REPLAYS_PER_SECOND)
        : null
    const enabled = yield* EndpointRepository.use(({ enable }) => enable(endpointId))
    return { ...enabled, missedEvents, missedSince, replayId: replay?.id ?? null }
  },
  note({ id, missedEvents, missedSince, replayId }) {
    if (missedSince === null) return undefined
    const missed = `It missed ${formatCounted(missedEvents, "event")}`
    return replayId === null
      ? `${missed}, which became dead letters since its last success. To send each once: \`ops dead-letters replay --endpoint ${id} --from ${missedSince}\`.`
      : `${missed}; ${replayId} sends them. Follow it with \`ops replays show ${replayId} --follow\`.`
  },
})

const remove = changing({
  about: "Remove an endpoint permanently with its secrets; its history remains. Requires confirmation or --yes",
  input: { endpointId, yes },
  *run({ endpointId, yes }) {
    const endpoint = yield* EndpointRepository.use(({ find }) => find(endpointId))
    const ended = describeRemoval(endpoint)
    if (yes) yield* printToStderr(ended)
    yield* confirm(`remove the endpoint ${endpointId} at ${endpoint.url} for good. ${ended.slice(0, -1)}`, { yes })
    const { lagEvents, waiting, waitingReplays, inFlight } = endpoint
    return {
      ...(yield* removeEndpoint(endpointId)),
      discardedEvents: lagEvents,
      discardedRetries: waiting - lagEvents - waitingReplays,
      discardedReplays: waitingReplays,
      callsInFlight: inFlight,
    }
  },
})

/** Maximum number of shown characters of the response. */
const MAX_SHOWN = 500

const client = Layer.unwrap(
  Effect.gen(function* () {
    const { allowHttp } = yield* Target
    const { HttpWebhookClient, NodeSigner } = yield* Effect.promise(
      () => import("@outreach/webhooks/HttpWebhookClient"),
    )
    const names = partnerNames(yield* dnsServers)
    return Layer.merge(
      NodeSigner,
      HttpWebhookClient({ allowPrivateAddresses: allowHttp, callMs: TEST_TIMEOUT_MS, names }),
    )
  }),
)

const sendTest = changing({
  about: "Send a signed test event (outreach.endpoint_test), which isn't recorded; show status, latency and response",
  input: { endpointId },
  *run({ endpointId }) {
    const { delivered, response, ...outcome } = yield* testEndpoint(endpointId)
    const result = { ...outcome, response: response?.slice(0, MAX_SHOWN) ?? null }
    if (delivered) return result
    yield* printToStderr(formatRecord(result))
    const { status, latencyMs } = result
    const reason = status === null ? result.outcome : `status ${status}, ${result.outcome}`
    return yield* refuse(
      "EndpointTestFailed",
      `The endpoint ${endpointId} did not accept the test event: ${reason}, after ${latencyMs} ms.`,
      result,
    )
  },
  services: Layer.merge(client, signingSecrets),
})

const replayLog = changing({
  about: "Send the events of a period to an endpoint again, delivered or not, after its other deliveries",
  examples: [
    "ops endpoints replay whe_… --from 2026-11-01T09:00:00Z --to 2026-11-01T17:00:00Z --dry-run",
    "ops endpoints replay whe_… --from 2026-11-01T09:00:00Z --to 2026-11-01T17:00:00Z --rate 20",
  ],
  input: {
    endpointId,
    from: pastInstant("Events published at this time or later, such as 2026-11-01T09:00:00Z"),
    to: instant("Events published before this time; events published after this command are never sent"),
    types: optional(
      flag(
        commaSeparated(outboundEventTypes),
        "The event types to send, separated by commas (default those that the endpoint receives)",
      ),
    ),
    ...replayFlags,
  },
  *run({ types: eventTypes, rate, dryRun, detach, ...period }) {
    const range = { ...period, ...(eventTypes && { eventTypes }) }
    const kept = yield* readKeptFrom(range.from)
    if (dryRun) {
      const count = yield* ReplayReader.use(({ countInLog }) => countInLog(range))
      return yield* print({ count, ...kept }, () => `${formatCounted(count, "event")} would be sent.`)
    }
    const job = yield* createLogReplay(range, rate)
    yield* printWhenEnded(job, {
      detach,
      sentence: `Sending ${formatCounted(job.total, "event")} as ${job.id}.`,
      ...kept,
    })
  },
})

export const endpoints = group({
  about: "The partners' webhook endpoints",
  commands: {
    create,
    list,
    show,
    update,
    test: sendTest,
    replay: replayLog,
    disable,
    enable,
    remove,
  },
  services: Layer.mergeAll(
    EndpointRepositoryPg,
    DeadLetterReader.layer,
    ReplayJobQueuePg,
    ReplayReader.layer,
    Partitions.layer,
  ),
})

/** Warns if the log starts after a time. Returns the start for JSON. */
const readKeptFrom = Effect.fnUntraced(function* (from: Timestamp | undefined) {
  const eventsKeptFrom = yield* (yield* Partitions).eventsKeptFrom
  if (from === undefined || eventsKeptFrom === null || from >= eventsKeptFrom) return undefined
  yield* printToStderr(`No events are kept from before ${eventsKeptFrom.slice(0, 10)} (EVENTS_MONTHS).`)
  return { eventsKeptFrom }
})
