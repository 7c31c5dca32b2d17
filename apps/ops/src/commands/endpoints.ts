import { endpoints as endpointList } from "@outreach/backoffice/lists/endpoints"
import {
  createEndpoint,
  disableEndpoint,
  enableEndpoint,
  removeEndpoint,
  replayEvents,
  showEndpoint,
  testEndpoint,
  updateEndpoint,
} from "@outreach/backoffice/operations/endpoints"
import { EndpointTestFailed, TEST_TIMEOUT_MS } from "@outreach/domain/deliveries/Endpoints"
import { formatRetryStatuses } from "@outreach/domain/deliveries/RetryStatuses"
import { dnsServers } from "@outreach/process/dnsServers"
import { partnerNames } from "@outreach/webhooks/partnerNames"
import { Effect, Layer } from "effect"
import { command } from "../command.ts"
import { group } from "../group.ts"
import { formatRecord, printToStderr } from "../output/Output.ts"
import { Target } from "../Target.ts"

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

export const endpoints = group("endpoints", "The partners' webhook endpoints", [
  createEndpoint,
  endpointList,
  command(showEndpoint, {
    format: ({ retryDelays: _, ...found }) => formatRecord({ ...found, retryStatuses: formatRetryStatuses(found) }),
  }),
  updateEndpoint,
  command(testShowingResponse, { services: client }),
  replayEvents,
  disableEndpoint,
  enableEndpoint,
  removeEndpoint,
])
