import { Courier, type CourierReply } from "@outreach/domain/deliveries/Courier"
import { checkEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { isPublicHost } from "@outreach/process/isPublicAddress"
import { Effect, Layer } from "effect"
import { Agent, type Dispatcher } from "undici"
import manifest from "../package.json" with { type: "json" }
import { addressGuard } from "./addressGuard.ts"
import { networkFailure } from "./networkFailure.ts"
import { workerLimits } from "./workerLimits.ts"

const USER_AGENT = `outreach-partner-api/${manifest.version}`

/** How much of a response is kept; at more the call is cut off and counts by its status. */
const RESPONSE_BYTES = 4096

/**
 * Carries webhooks over HTTP/1.1 with undici, on kept connections, without following redirects.
 *
 * At the deadline the silence that lasts gives the failure its name: `headers_timeout` before the response, `body_timeout`
 * before the first byte of its body; `deadline` when no request went out, or when bytes still came.
 */
export const HttpCourier = (options: {
  /** Whether calls may go to private addresses, and over plain http. */
  readonly allowPrivateAddresses: boolean
  /** Default 5 s. */
  readonly connectMs?: number
  /** The whole call: name resolution, connection, request, headers and body. */
  readonly callMs: number
}) =>
  Layer.effect(
    Courier,
    Effect.gen(function* () {
      const { allowPrivateAddresses, connectMs = workerLimits.deliveries.connectMs, callMs } = options
      const agent = yield* Effect.acquireRelease(
        Effect.sync(
          () =>
            new Agent({
              allowH2: false,
              // The call's own deadline stands over both.
              headersTimeout: 0,
              bodyTimeout: 0,
              connect: { timeout: connectMs, ...(allowPrivateAddresses ? {} : { lookup: addressGuard }) },
            }),
        ),
        (agent) => Effect.promise(() => agent.destroy()),
      )
      return {
        post: (text, headers, body) =>
          Effect.callback<CourierReply>((resume) => {
            const url = URL.parse(text)
            if (url === null) return resume(Effect.succeed({ error: "unknown" }))
            if (!allowPrivateAddresses && !mayBeCalled(text, url)) {
              return resume(Effect.succeed({ error: "blocked_address" }))
            }
            const exchange = new Exchange(callMs, (reply) => resume(Effect.succeed(reply)))
            agent.dispatch(
              {
                origin: url.origin,
                path: url.pathname + url.search,
                method: "POST",
                headers: { ...headers, "User-Agent": USER_AGENT, "Accept-Encoding": "identity" },
                body,
              },
              exchange,
            )
            return Effect.sync(() => exchange.abandon())
          }),
      }
    }),
  )

// Looked at again before every call: what was stored may be older than the rules.
const mayBeCalled = (text: string, url: URL): boolean =>
  checkEndpointUrl(text, false) === undefined && isPublicHost(url)

/** One request and its response, until the reply is known. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #answer: (reply: CourierReply) => void
  readonly #deadline: NodeJS.Timeout
  readonly #body: Buffer[] = []
  #size = 0
  #status: number | undefined
  #controller: Dispatcher.DispatchController | undefined
  #over = false

  constructor(callMs: number, answer: (reply: CourierReply) => void) {
    this.#answer = answer
    this.#deadline = setTimeout(() => this.#cutOff(this.#lateReply()), callMs)
  }

  /** Gives the call up without an answer. */
  abandon(): void {
    this.#over = true
    clearTimeout(this.#deadline)
    this.#controller?.abort(new Error("the call was given up"))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // The connection came too late.
    if (this.#over) controller.abort(new Error("the call is over"))
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    // 1xx are no answer yet.
    if (status >= 200) this.#status = status
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return
    this.#body.push(chunk.subarray(0, RESPONSE_BYTES - Math.min(this.#size, RESPONSE_BYTES)))
    this.#size += chunk.length
    if (this.#size > RESPONSE_BYTES) this.#cutOff(this.#reply(this.#status!))
  }

  onResponseEnd(): void {
    this.#finish(this.#reply(this.#status!))
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#finish({ error: networkFailure(error) })
  }

  #finish(reply: CourierReply): void {
    if (this.#over) return
    this.#over = true
    clearTimeout(this.#deadline)
    this.#answer(reply)
  }

  #cutOff(reply: CourierReply): void {
    this.#finish(reply)
    this.#controller?.abort(new Error("the call is over"))
  }

  #lateReply(): CourierReply {
    if (this.#controller === undefined || this.#size > 0) return { error: "deadline" }
    return { error: this.#status === undefined ? "headers_timeout" : "body_timeout" }
  }

  // PostgreSQL's text holds no U+0000.
  #reply(status: number): CourierReply {
    return { status, response: Buffer.concat(this.#body).toString("utf8").replaceAll("\0", "") }
  }
}
