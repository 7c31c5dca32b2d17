import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import { PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { schedule } from "@outreach/retry-policy"
import { verify } from "@outreach/signature/node"
import { listen } from "@outreach/testing/listen"
import type { Services } from "@outreach/testing/runOnDatabase"
import { Changes, until } from "@outreach/testing/until"
import { HttpWebhookClient, NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { Effect, Layer, Redacted } from "effect"
import { deliver } from "../../src/deliveries/deliver.ts"

export interface Call {
  readonly eventId: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly response: ServerResponse
}

type Answer = (call: Call) => unknown

export const respondWith =
  (status: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  ({ response }) =>
    response.writeHead(status, headers).end()

export const accept: Answer = respondWith(200)

/** Leaves the response to the test. */
export const hold: Answer = () => undefined

/** Starts a partner's receiver that records its calls. `answerBy` changes its responses from the next call on. */
export const startReceiver = async (first: Answer) => {
  const changes = new Changes()
  const calls: Array<Call> = []
  let answer = first
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const call = { eventId: JSON.parse(body.toString()).event_id, headers: request.headers, body, response }
    calls.push(call)
    answer(call)
    changes.announce()
  })
  return {
    changes,
    calls,
    url: PrivateEndpointUrl.make(`http://127.0.0.1:${await listen(server)}/`),
    answerBy: (next: Answer) => {
      answer = next
    },
    /** Waits for this number of calls. Returns all calls. */
    receives: (count: number) => Effect.promise(() => until({ changes }, () => calls.length >= count && calls)),
  }
}

export const verifies = ({ headers, body }: Call, secret: Redacted.Redacted): boolean => {
  try {
    verify(String(headers["x-signature"]), body, [Redacted.value(secret)], { now: Date.now() / 1000 })
    return true
  } catch {
    return false
  }
}

export const httpClient = HttpWebhookClient({ allowPrivateAddresses: true, callMs: 600_000 })

export const whileDelivering = <A, E>(
  effect: Effect.Effect<A, E, Services>,
  {
    retryAfter = "1h",
    perEndpoint = 16,
    client = httpClient,
  }: { readonly retryAfter?: string; readonly perEndpoint?: number; readonly client?: typeof httpClient } = {},
) =>
  Effect.raceFirst(
    effect,
    deliver({
      ...{ schedule: schedule(retryAfter), maxInFlight: 512, perEndpoint },
      ...{ drainSeconds: 0, callSeconds: 600, leaseSeconds: 45 },
    }).pipe(Effect.provide(Layer.merge(client, NodeSigner))),
  )
