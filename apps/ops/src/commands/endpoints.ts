import { DeadLetterReader } from "@outreach/backoffice/deliveries/DeadLetterReader"
import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { endpoints as endpointList } from "@outreach/backoffice/lists/endpoints"
import {
  createEndpoint,
  disableEndpoint,
  enableEndpoint,
  removeEndpoint,
  replayEvents,
  testEndpoint,
  updateEndpoint,
} from "@outreach/backoffice/operations/endpoints"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { describeSchedule } from "@outreach/domain/deliveries/deliverySchedule"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { EndpointTestFailed, TEST_TIMEOUT_MS } from "@outreach/domain/deliveries/Endpoints"
import { formatRetryStatuses } from "@outreach/domain/deliveries/RetryStatuses"
import { EndpointId } from "@outreach/domain/Identifier"
import { EndpointRepositoryPg } from "@outreach/postgres/deliveries/EndpointRepositoryPg"
import { ReplayJobQueuePg } from "@outreach/postgres/deliveries/ReplayJobQueuePg"
import { Partitions } from "@outreach/postgres/Partitions"
import { dnsServers } from "@outreach/process/dnsServers"
import { webhookRetryDelays } from "@outreach/process/settings"
import { partnerNames } from "@outreach/webhooks/partnerNames"
import { Effect, Layer } from "effect"
import { group, revealing } from "../Declaration.ts"
import { switchFlag } from "../inputs/Input.ts"
import { listCommand } from "../listCommand.ts"
import { command, idArgument } from "../operationCommand.ts"
import { formatRecord, printToStderr } from "../output/Output.ts"
import { lazySigningSecrets, signingSecrets } from "../secretCipher.ts"
import { Target } from "../Target.ts"

const show = revealing({
  about: "Show an endpoint: its breaker, its schedule, its position in the event log, and its waiting deliveries",
  input: {
    endpointId: idArgument("endpointId", EndpointId),
    reveal: switchFlag("Show the whole address, which may hold a secret of the partner"),
  },
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
    replay: command(replayEvents),
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
