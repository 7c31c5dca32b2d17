import type { OperationId, Operations } from "@outreach/contract"
import { ApiError, ConnectionError } from "./ApiError.ts"
import { etagCache } from "./etagCache.ts"
import { type Answer, exchange, type Fetch } from "./exchange.ts"
import { readError } from "./readError.ts"
import type { Sleep } from "./sleep.ts"
import { type RetryOptions, waitBefore } from "./waitBefore.ts"

/** What every call can be told. */
export interface CallOptions {
  /** Gives up at once, in the middle of a request or of a wait; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** The most seconds that one attempt may take. Default: the client's. */
  readonly timeout?: number | undefined
}

/** A request that is not yet text. */
export interface Call {
  readonly operation: OperationId
  readonly path?: Readonly<Record<string, string>>
  /** By bare name; a list is written as `name[]`, once for each value. */
  readonly query?: object
  readonly body?: string
  /** Headers that each attempt makes anew. */
  readonly headers?: () => Promise<Readonly<Record<string, string>>>
  readonly idempotencyKey?: string | undefined
  readonly options: CallOptions
}

/** What a client sends with. */
export interface Sender {
  readonly apiKey: string
  readonly baseUrl: string
  readonly fetch: Fetch
  readonly sleep: Sleep
  readonly timeout: number
  readonly cacheSize: number
  readonly retry: RetryOptions
}

/** Creates the function that sends a call, again where that helps, and answers the body of its success. */
export function makeSend(sender: Sender): <Body>(call: Call) => Promise<Body> {
  const cache = etagCache(sender.cacheSize)

  async function attempt(url: string, { method, bearer }: Route, call: Call): Promise<unknown> {
    const known = call.operation === "getToken" ? cache.get(url) : undefined
    const headers = {
      Accept: "application/json",
      ...(bearer && { Authorization: `Bearer ${sender.apiKey}` }),
      ...(call.body !== undefined && { "Content-Type": "application/json" }),
      ...(call.idempotencyKey !== undefined && { "Idempotency-Key": call.idempotencyKey }),
      ...(known && { "If-None-Match": known.etag }),
      ...(await call.headers?.()),
    }
    const body = call.body === undefined ? {} : { body: call.body }
    const { timeout = sender.timeout, signal } = call.options
    const answer = await exchange(sender.fetch, url, { method, headers, ...body }, { timeout, signal })
    if (answer.status === 304 && known) return JSON.parse(known.text)
    if (answer.status < 200 || answer.status > 299) throw readError(answer)
    const value = parse(answer)
    const etag = answer.header("ETag")
    if (call.operation === "getToken" && etag !== null) cache.set(url, { etag, text: answer.text })
    return value
  }

  return async function send<Body>(call: Call): Promise<Body> {
    const route = routes[call.operation]
    const url = sender.baseUrl + targetOf(route.path, call)
    for (let count = 1; ; count++) {
      try {
        return (await attempt(url, route, call)) as Body
      } catch (error) {
        const seconds = isAnswerable(error) ? waitBefore(error, count, sender.retry) : undefined
        if (seconds === undefined) throw error
        await sender.sleep(seconds * 1000, call.options.signal)
      }
    }
  }
}

function parse({ text }: Answer): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ConnectionError("unreadable", error)
  }
}

function isAnswerable(error: unknown): error is ApiError | ConnectionError {
  return error instanceof ApiError || error instanceof ConnectionError
}

function targetOf(path: string, { path: parameters = {}, query = {} }: Call): string {
  const pairs = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const one of value) pairs.append(`${name}[]`, String(one))
    else if (value !== undefined) pairs.append(name, String(value))
  }
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ""))
  const search = pairs.toString()
  return search === "" ? filled : `${filled}?${search}`
}

/** What a request needs to know of an operation. */
type Route<Id extends OperationId = OperationId> = {
  readonly method: Operations[Id]["method"]
  readonly path: Operations[Id]["path"]
  /** Whether the API key is sent: only where it is asked for. */
  readonly bearer: Operations[Id]["auth"]["kind"] extends "none" | "signature" ? false : true
}

// The contract's table holds schemas, which would pull zod into the caller's bundle; its types hold this copy to it.
/** Where each operation of the contract is served. */
const routes: { readonly [Id in OperationId]: Route<Id> } = {
  getHealth: { method: "GET", path: "/v1/health", bearer: false },
  getToken: { method: "GET", path: "/v1/partners/consumer/tokens/{token}", bearer: true },
  listTokens: { method: "GET", path: "/v1/partners/consumer/tokens", bearer: true },
  listEvents: { method: "GET", path: "/v1/partners/consumer/events", bearer: true },
  listCampaignRecipients: { method: "GET", path: "/v1/partners/consumer/campaigns/{id}/recipients", bearer: true },
  getDigest: { method: "GET", path: "/v1/partners/consumer/digest", bearer: true },
  receiveWebhook: { method: "POST", path: "/v1/partners/consumer/webhooks/{endpoint_id}", bearer: false },
  createSurvey: { method: "POST", path: "/v1/surveys", bearer: true },
  validateSurvey: { method: "POST", path: "/v1/surveys/validate", bearer: true },
  presignUpload: { method: "GET", path: "/v1/uploads/presign", bearer: true },
}
