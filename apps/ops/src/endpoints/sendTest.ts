import { TEST_TIMEOUT_MS, testEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { dnsServers } from "@outreach/process/dnsServers"
import { NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { partnerNames } from "@outreach/webhooks/partnerNames"
import { Effect, Layer } from "effect"
import { changing } from "../Declaration.ts"
import { endpointId } from "../inputs/filters.ts"
import { formatRecord, printToStderr } from "../output/Output.ts"
import { refuse } from "../output/refuse.ts"
import { signingSecrets } from "../signingSecrets.ts"
import { Target } from "../Target.ts"

/** The maximum of characters of the response that are shown. */
const MAX_SHOWN = 500

// Loaded here, because no other command calls an endpoint.
const client = Layer.unwrap(
  Effect.gen(function* () {
    const { allowHttp } = yield* Target
    const { HttpWebhookClient } = yield* Effect.promise(() => import("@outreach/webhooks/HttpWebhookClient"))
    const names = partnerNames(yield* dnsServers)
    return HttpWebhookClient({ allowPrivateAddresses: allowHttp, callMs: TEST_TIMEOUT_MS, names })
  }),
)

/** `ops endpoints test` */
export const sendTest = changing({
  about:
    "Send one signed event of the type outreach.endpoint_test, which is not recorded; show the status, the latency and the response",
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
  services: Layer.mergeAll(client, NodeSigner, signingSecrets),
})
