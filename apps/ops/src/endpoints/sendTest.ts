import { TEST_TIMEOUT_MS, testEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { dnsServers } from "@outreach/process/dnsServers"
import { NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { partnerNames } from "@outreach/webhooks/partnerNames"
import { Effect, Layer, Schema } from "effect"
import { changing } from "../Declaration.ts"
import { endpointId } from "../inputs/filters.ts"
import { formatRecord, printToStderr } from "../output/Output.ts"
import { signingSecrets } from "../signingSecrets.ts"
import { Target } from "../Target.ts"

/** The maximum of characters of the response that are shown. */
const MAX_SHOWN = 500

/** The endpoint did not accept the test event. */
class EndpointTestFailed extends Schema.TaggedError<EndpointTestFailed>()("EndpointTestFailed", {
  endpointId: Schema.String,
  url: Schema.String,
  eventId: Schema.String,
  status: Schema.NullOr(Schema.Int),
  outcome: Schema.String,
  latencyMs: Schema.Int,
  response: Schema.NullOr(Schema.String),
}) {
  override get message(): string {
    const reason = this.status === null ? this.outcome : `status ${this.status}, ${this.outcome}`
    return `The endpoint ${this.endpointId} did not accept the test event: ${reason}, after ${this.latencyMs} ms.`
  }
}

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
    return yield* new EndpointTestFailed(result)
  },
  services: Layer.mergeAll(client, NodeSigner, signingSecrets),
})
