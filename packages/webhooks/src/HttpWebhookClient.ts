import { createHmac } from "node:crypto"
import { EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import type { NetworkFailure, WebhookResponse } from "@outreach/domain/deliveries/WebhookClient"
import { Signer, WebhookClient } from "@outreach/domain/deliveries/WebhookClient"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { networkFailure } from "@outreach/process/networkFailure"
import { RELEASE } from "@outreach/process/release"
import type { WebhookProxy } from "@outreach/process/webhookProxy"
import { parseRetryAfter } from "@outreach/retry-policy"
import { sign } from "@outreach/signature/node"
import { Effect, Layer, Redacted, Schema } from "effect"
import { Agent, type Dispatcher } from "undici"
import { addressGuard } from "./addressGuard.ts"
import { createConnector } from "./createConnector.ts"
import { partnerNames } from "./partnerNames.ts"

const CONNECT_MS = 5000

/** Wait for the body after the headers. */
const BODY_MS = 1000

const USER_AGENT = `outreach-partner-api/${RELEASE}`

/** Maximum number of cached parsed URLs. */
const MAX_TARGETS = 10_000

/** Maximum size of a stored response body; the rest isn't read. */
const MAX_RESPONSE_BYTES = 4096

/**
 * Sends webhooks over HTTP/1.1 with undici on kept connections, without following redirects. Organizations don't share connections or
 * name look-ups.
 *
 * The status decides: a late, endless, truncated or invalid body doesn't change the result.
 * A call without response headers at the deadline fails with `headers_timeout`, or `deadline` if the request wasn't sent.
 */
export const HttpWebhookClient = (options: {
  /** Whether to allow private addresses and plain http. */
  readonly allowPrivateAddresses: boolean
  /** Default 5 s. */
  readonly connectMs?: number
  /** The whole call: name resolution, connection, request, headers and body. */
  readonly callMs: number
  /** Name resolver for endpoint hosts. Default: this machine's name servers. */
  readonly names?: ReturnType<typeof partnerNames>
  /** Wait for the body after the headers. Default 1 s. */
  readonly bodyMs?: number
  /** Default none. */
  readonly proxy?: WebhookProxy | null
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
        proxy = null,
      } = options
      // Each agent closes its unused connections.
      const agents = new Map<OrganizationId, Agent>()
      yield* Effect.addFinalizer(() =>
        Effect.promise(() => Promise.all([...agents.values()].map((agent) => agent.destroy()))),
      )
      const agentOf = (organizationId: OrganizationId): Agent => {
        const known = agents.get(organizationId)
        if (known !== undefined) return known
        const lookup = addressGuard((host) => names(host, organizationId), { allowPrivateAddresses })
        const agent = new Agent({
          allowH2: false,
          // The call's own deadline covers both.
          headersTimeout: 0,
          bodyTimeout: 0,
          connect: createConnector(lookup, { connectMs, proxy }),
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

/** Destination of a call, or the reason for not making it. */
type Target = { readonly origin: string; readonly path: string } | { readonly error: NetworkFailure }

const isEndpointUrl = Schema.is(EndpointUrl)

// Checked again, because the stored URL may predate the current rules.
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
    // The connection opened too late.
    if (this.#over) controller.abort(new Error("the call is over"))
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    // Informational responses (1xx) are ignored.
    if (status < 200 || this.#over) return
    this.#status = status
    if (status >= 400) this.#retryAfterMs = retryAfterOf(headers)
    // Most bodies arrive with the headers and need no timer.
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
    const said = "said" in error ? { response: String(error.said) } : {}
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

  /** Returns a call's failure, unless its status is known. */
  #failed(error: NetworkFailure): WebhookResponse {
    return this.#status === undefined ? { error } : this.#reply(this.#status)
  }

  // PostgreSQL text can't contain U+0000.
  #reply(status: number): WebhookResponse {
    const body = this.#body.length === 1 ? this.#body[0]! : Buffer.concat(this.#body)
    return { status, response: body.toString("utf8").replaceAll("\0", ""), retryAfterMs: this.#retryAfterMs }
  }
}

type ResponseHeaders = Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>[2]

/** Longer than any number of seconds or date. */
const MAX_TIME_LENGTH = 64

/** Parses the first `Retry-After`, in milliseconds. */
const retryAfterOf = (headers: ResponseHeaders): number | undefined => {
  const first = (name: string) => [headers[name]].flat()[0]?.slice(0, MAX_TIME_LENGTH)
  return parseRetryAfter(first("retry-after"), { date: first("date"), now: Date.now })
}

/** Signs with `node:crypto`. */
export const NodeSigner = Layer.succeed(Signer, {
  sign: (body, secrets, timestamp) => sign(body, secrets.map(Redacted.value), { timestamp }),
  signStandard: (body, secrets, message) => standardSignature(body, secrets.map(Redacted.value), message),
})

/**
 * Signs a body with every secret, for the `webhook-signature` header of Standard Webhooks.
 *
 * The key is the part after `whsec_`, decoded from base64 or base64url with or without padding: docs/decisions/0009-one-signing-secret-has-two-hmac-keys.md.
 * Source: the specification of Standard Webhooks 1.0.0, "Signature scheme" and "Webhook headers".
 */
export const standardSignature = (
  body: Uint8Array,
  secrets: ReadonlyArray<string>,
  message: {
    readonly eventId: string
    /** Unix seconds. */
    readonly timestamp: number
  },
): string =>
  secrets
    .map((secret) => {
      const hmac = createHmac("sha256", keyOf(secret)).update(`${message.eventId}.${message.timestamp}.`)
      return `v1,${hmac.update(body).digest("base64")}`
    })
    .join(" ")

// Node accepts both alphabets under this name, without padding.
const keyOf = (secret: string): Uint8Array => Buffer.from(secret.replace(/^whsec_/, ""), "base64")
