import type { NetworkFailure } from "@outreach/domain/deliveries/classifyResponse"
import { EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { Signer, WebhookClient, type WebhookResponse } from "@outreach/domain/deliveries/WebhookClient"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { RELEASE } from "@outreach/process/release"
import { parseRetryAfter } from "@outreach/retry-policy"
import { sign } from "@outreach/signature/node"
import { Effect, Layer, Redacted, Schema } from "effect"
import { Agent, type Dispatcher } from "undici"
import { addressGuard } from "./addressGuard.ts"
import { UnresolvedName } from "./askName.ts"
import { networkFailure } from "./networkFailure.ts"
import { type PartnerNames, partnerNames } from "./partnerNames.ts"
import { standardSignature } from "./standardSignature.ts"

const CONNECT_MS = 5000

/** How long the body is waited for once the headers have said the status. */
const BODY_MS = 1000

const USER_AGENT = `outreach-partner-api/${RELEASE}`

/** How many URLs are remembered as they were read. */
const MAX_TARGETS = 10_000

/** How much of a response body is kept; the rest is not read. */
const MAX_RESPONSE_BYTES = 4096

/**
 * Carries webhooks over HTTP/1.1 with undici, on kept connections, without following redirects. Organizations share neither connections nor
 * the wait for a name.
 *
 * The status decides once the headers are there: a body that is late, endless, cut off or malformed changes nothing.
 * At the deadline a call without headers fails: as `headers_timeout`, or as `deadline` when no request went out.
 */
export const HttpWebhookClient = (options: {
  /** Whether calls may go to private addresses, and over plain http. */
  readonly allowPrivateAddresses: boolean
  /** Default 5 s. */
  readonly connectMs?: number
  /** The whole call: name resolution, connection, request, headers and body. */
  readonly callMs: number
  /** What resolves the names of endpoints. Default: by the name servers of this machine. */
  readonly names?: PartnerNames
  /** How long the body is waited for after the headers. Default 1 s. */
  readonly bodyMs?: number
}) =>
  Layer.effect(
    WebhookClient,
    Effect.gen(function* () {
      const {
        allowPrivateAddresses,
        connectMs = CONNECT_MS,
        callMs,
        bodyMs = BODY_MS,
        names = partnerNames([]),
      } = options
      // Each closes the connections that it no longer uses.
      const agents = new Map<OrganizationId, Agent>()
      yield* Effect.addFinalizer(() =>
        Effect.promise(() => Promise.all([...agents.values()].map((agent) => agent.destroy()))),
      )
      const agentOf = (organizationId: OrganizationId): Agent => {
        const known = agents.get(organizationId)
        if (known !== undefined) return known
        const lookup = addressGuard((host) => names.addresses(host, organizationId), { allowPrivateAddresses })
        const agent = new Agent({
          allowH2: false,
          // The call's own deadline stands over both.
          headersTimeout: 0,
          bodyTimeout: 0,
          connect: { timeout: connectMs, lookup },
        })
        agents.set(organizationId, agent)
        return agent
      }
      const targets = new Map<string, Target>()
      const targetOf = (text: string): Target => {
        const known = targets.get(text)
        if (known !== undefined) return known
        if (targets.size >= MAX_TARGETS) targets.clear()
        const target = readTarget(text, allowPrivateAddresses)
        targets.set(text, target)
        return target
      }
      return {
        post: ({ organizationId, url }, headers, body) =>
          Effect.callback<WebhookResponse>((resume) => {
            const target = targetOf(url)
            if ("error" in target) return resume(Effect.succeed(target))
            const exchange = new Exchange(callMs, bodyMs, (reply) => resume(Effect.succeed(reply)))
            agentOf(organizationId).dispatch(
              {
                ...target,
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

/** Where a call goes, or why none is made. */
type Target = { readonly origin: string; readonly path: string } | { readonly error: NetworkFailure }

const isEndpointUrl = Schema.is(EndpointUrl)

// Judged by this process again: what was stored may be older than the rules.
const readTarget = (text: string, allowPrivateAddresses: boolean): Target => {
  const url = URL.parse(text)
  if (url === null) return { error: "unknown" }
  if (!allowPrivateAddresses && !isEndpointUrl(text)) return { error: "blocked_address" }
  return { origin: url.origin, path: url.pathname + url.search }
}

/** One request and its response, until the reply is known. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #answer: (reply: WebhookResponse) => void
  readonly #bodyMs: number
  readonly #deadline: NodeJS.Timeout
  #bodyDeadline: NodeJS.Timeout | undefined
  readonly #body: Buffer[] = []
  #size = 0
  #status: number | undefined
  #retryAfterMs: number | undefined
  #controller: Dispatcher.DispatchController | undefined
  #over = false

  constructor(callMs: number, bodyMs: number, answer: (reply: WebhookResponse) => void) {
    this.#answer = answer
    this.#bodyMs = bodyMs
    this.#deadline = setTimeout(
      () => this.#cutOff(this.#failed(this.#controller === undefined ? "deadline" : "headers_timeout")),
      callMs,
    )
  }

  abandon(): void {
    this.#end()
    this.#controller?.abort(new Error("the call was given up"))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // The connection came too late.
    if (this.#over) controller.abort(new Error("the call is over"))
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    // 1xx are no answer yet.
    if (status < 200 || this.#over) return
    this.#status = status
    if (status >= 400) this.#retryAfterMs = retryAfterOf(headers)
    // Most bodies have come with the headers, and need no timer.
    queueMicrotask(() => {
      if (!this.#over) this.#bodyDeadline = setTimeout(() => this.#cutOff(this.#reply(status)), this.#bodyMs)
    })
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return
    this.#body.push(chunk.subarray(0, MAX_RESPONSE_BYTES - Math.min(this.#size, MAX_RESPONSE_BYTES)))
    this.#size += chunk.length
    if (this.#size > MAX_RESPONSE_BYTES) this.#cutOff(this.#reply(this.#status!))
  }

  onResponseEnd(): void {
    this.#finish(this.#reply(this.#status!))
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    const said = error instanceof UnresolvedName ? { response: error.said } : {}
    this.#finish({ ...this.#failed(networkFailure(error)), ...said })
  }

  #end(): void {
    this.#over = true
    clearTimeout(this.#deadline)
    clearTimeout(this.#bodyDeadline)
  }

  #finish(reply: WebhookResponse): void {
    if (this.#over) return
    this.#end()
    this.#answer(reply)
  }

  #cutOff(reply: WebhookResponse): void {
    this.#finish(reply)
    this.#controller?.abort(new Error("the call is over"))
  }

  /** Returns the failure of a call, unless its status is known. */
  #failed(error: NetworkFailure): WebhookResponse {
    return this.#status === undefined ? { error } : this.#reply(this.#status)
  }

  // PostgreSQL's text holds no U+0000.
  #reply(status: number): WebhookResponse {
    const body = this.#body.length === 1 ? this.#body[0]! : Buffer.concat(this.#body)
    return { status, response: body.toString("utf8").replaceAll("\0", ""), retryAfterMs: this.#retryAfterMs }
  }
}

type ResponseHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>[2]

/** More than a number of seconds or a date needs. */
const MAX_TIME_LENGTH = 64

/** Reads the first `Retry-After`, in milliseconds. */
const retryAfterOf = (headers: ResponseHeaders): number | undefined => {
  const first = (name: string) => [headers[name]].flat()[0]?.slice(0, MAX_TIME_LENGTH)
  return parseRetryAfter(first("retry-after"), { date: first("date"), now: Date.now })
}

/** Signs with `node:crypto`. */
export const NodeSigner = Layer.succeed(Signer, {
  sign: (body, secrets, timestamp) => sign(body, secrets.map(Redacted.value), { timestamp }),
  signStandard: (body, secrets, message) => standardSignature(body, secrets.map(Redacted.value), message),
})
