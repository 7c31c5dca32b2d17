import { TEST_TIMEOUT_MS, testEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { EndpointId } from "@outreach/domain/Identifier"
import { dnsServers } from "@outreach/process/dnsServers"
import { NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { partnerNames } from "@outreach/webhooks/partnerNames"
import { Effect, Layer, Schema } from "effect"
import { Command } from "effect/cli"
import { changing } from "../audit/Access.ts"
import { parsedArgument } from "../inputs/parsedInput.ts"
import { formatRecord, printRecord, printToStderr } from "../output/Output.ts"
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
export const sendTest = changing(
  "test",
  { endpoint: parsedArgument("endpoint", EndpointId, "The endpoint's id, whe_…") },
  Effect.fn("ops.endpoints.test")(function* ({ endpoint }) {
    const { delivered, response, ...outcome } = yield* testEndpoint(endpoint)
    const result = { ...outcome, response: response?.slice(0, MAX_SHOWN) ?? null }
    if (delivered) return yield* printRecord(result)
    yield* printToStderr(formatRecord(result))
    return yield* new EndpointTestFailed(result)
  }),
).pipe(
  Command.withDescription(
    "Send one signed event of the type outreach.endpoint_test, which is not recorded; show the status, the latency and the response",
  ),
  Command.provide(Layer.mergeAll(client, NodeSigner, signingSecrets)),
)
