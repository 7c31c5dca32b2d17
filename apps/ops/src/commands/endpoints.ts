import { DeadLetterReader } from "@outreach/backoffice/deliveries/DeadLetterReader"
import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { formatCounted } from "@outreach/backoffice/format"
import { endpoints as endpointList } from "@outreach/backoffice/lists/endpoints"
import {
  createEndpoint,
  describeKeptFrom,
  disableEndpoint,
  enableEndpoint,
  rangeOf,
  readKeptFrom,
  removeEndpoint,
  replayEvents,
  testEndpoint,
  updateEndpoint,
} from "@outreach/backoffice/operations/endpoints"
import { required } from "@outreach/backoffice/operations/Field"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { describeSchedule } from "@outreach/domain/deliveries/deliverySchedule"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { EndpointTestFailed, TEST_TIMEOUT_MS } from "@outreach/domain/deliveries/Endpoints"
import { formatRetryStatuses } from "@outreach/domain/deliveries/RetryStatuses"
import { EndpointRepositoryPg } from "@outreach/postgres/deliveries/EndpointRepositoryPg"
import { ReplayJobQueuePg } from "@outreach/postgres/deliveries/ReplayJobQueuePg"
import { Partitions } from "@outreach/postgres/Partitions"
import { dnsServers } from "@outreach/process/dnsServers"
import { webhookRetryDelays } from "@outreach/process/settings"
import { partnerNames } from "@outreach/webhooks/partnerNames"
import { Effect, Layer } from "effect"
import { changing, group, revealing } from "../Declaration.ts"
import { printWhenEnded, replayFlags } from "../deadLetters/followReplay.ts"
import { endpointId } from "../inputs/filters.ts"
import { switchFlag } from "../inputs/Input.ts"
import { listCommand } from "../listCommand.ts"
import { command, inputsOf } from "../operationCommand.ts"
import { formatRecord, print, printToStderr } from "../output/Output.ts"
import { lazySigningSecrets, signingSecrets } from "../secretCipher.ts"
import { Target } from "../Target.ts"

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

const replay = changing({
  about: replayEvents.about,
  examples: replayEvents.examples!,
  input: {
    endpointId,
    ...inputsOf({
      ...replayEvents.input,
      from: required(replayEvents.input.from),
      to: required(replayEvents.input.to),
    }),
    ...replayFlags,
  },
  *run({ dryRun, detach, ...given }) {
    const kept = yield* readKeptFrom(given.from)
    const warning = describeKeptFrom(kept)
    if (warning !== undefined) yield* printToStderr(warning)
    if (dryRun) {
      const count = yield* ReplayReader.use(({ countInLog }) => countInLog(rangeOf(given)!))
      return yield* print({ count, ...kept }, () => `${formatCounted(count, "event")} would be sent.`)
    }
    yield* printWhenEnded(yield* replayEvents.run(given, ""), { detach, ...kept })
  },
})

const testShowingResponse: typeof testEndpoint = {
  ...testEndpoint,
  run: (...given) =>
    Effect.tapError(testEndpoint.run(...given), (error) =>
      error instanceof EndpointTestFailed && error.response !== null
        ? printToStderr(`Response: ${error.response}`)
        : Effect.void,
    ),
}

export const endpoints = group({
  about: "The partners' webhook endpoints",
  commands: {
    create: command(createEndpoint, { services: lazySigningSecrets }),
    list: listCommand(endpointList),
    show,
    update: command(updateEndpoint),
    test: command(testShowingResponse, { services: Layer.merge(client, signingSecrets) }),
    replay,
    disable: command(disableEndpoint),
    enable: command(enableEndpoint),
    remove: command(removeEndpoint),
  },
  services: Layer.mergeAll(
    EndpointRepositoryPg,
    DeadLetterReader.layer,
    OrganizationReader.layer,
    ReplayJobQueuePg,
    ReplayReader.layer,
    Partitions.layer,
  ),
})
