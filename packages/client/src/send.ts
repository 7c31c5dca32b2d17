import { type Policy, retry } from "@outreach/retry-policy"
import { ApiError, ConnectionError } from "./ApiError.ts"
import { exchange, type Fetch } from "./exchange.ts"
import type { AttemptInfo, Hooks, RequestInfo } from "./Hooks.ts"
import { type ResponseInfo, responseInfo } from "./ResponseInfo.ts"
import { readError } from "./readError.ts"
import { classifyError } from "./retryPolicy.ts"
import { type OperationId, type Route, routes } from "./routes.ts"
import type { Sleep } from "./sleep.ts"

/** Options of every call. */
export interface CallOptions {
  /** Aborts a request or a wait immediately. The call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Maximum seconds per attempt. Default: the client's. */
  readonly timeout?: number | undefined
}

export interface Call {
  readonly operation: OperationId
  readonly path?: Readonly<Record<string, string>>
  /** By name without brackets. A list becomes one `name[]` for each value. */
  readonly query?: object
  readonly body?: string
  /** Returns the headers of an attempt. */
  readonly headers?: () => Promise<Readonly<Record<string, string>>>
  readonly idempotencyKey?: string | undefined
  /** For lists: the cursors of earlier requests. The response must not point to any of them. */
  readonly cursors?: ReadonlyMap<string, number>
  readonly options: CallOptions
}

export interface Sender extends Hooks {
  readonly apiKey: string
  readonly baseUrl: string
  readonly userAgent: string
  readonly fetch: Fetch
  readonly sleep: Sleep
  readonly timeout: number
  readonly cacheSize: number
  readonly policy: Policy
  readonly random: () => number
  /** Response data by result or error. */
  readonly responses: WeakMap<object, ResponseInfo>
}

type Outcome =
  | { readonly response: ResponseInfo; readonly value: unknown }
  | { readonly response: ResponseInfo | null; readonly error: ApiError | ConnectionError }

/** Creates the function that sends a call with retries. It returns the body of the successful response. */
export function makeSend(sender: Sender): <Body>(call: Call) => Promise<Body> {
  /** Records with their tags by URL, least recently used first. */
  const cache = new Map<string, { readonly etag: string; readonly text: string }>()
  const remember = (url: string, etag: string, text: string): void => {
    cache.delete(url)
    cache.set(url, { etag, text })
    if (cache.size > sender.cacheSize) cache.delete(cache.keys().next().value!)
  }

  async function attempt(request: RequestInfo, { bearer }: Route, call: Call): Promise<Outcome> {
    const { method, url } = request
    const known = call.operation === "getToken" ? cache.get(url) : undefined
    const added = await sender.onRequest?.(request)
    const headers = withoutDuplicates(added, {
      Accept: "application/json",
      "User-Agent": sender.userAgent,
      ...(bearer && { Authorization: `Bearer ${sender.apiKey}` }),
      ...(call.body !== undefined && { "Content-Type": "application/json" }),
      ...(call.idempotencyKey !== undefined && { "Idempotency-Key": call.idempotencyKey }),
      ...(known && { "If-None-Match": known.etag }),
      ...(await call.headers?.()),
    })
    const body = call.body === undefined ? {} : { body: call.body }
    const { timeout = sender.timeout, signal } = call.options
    let response: ResponseInfo | null = null
    try {
      const answer = await exchange(sender.fetch, url, { method, headers, ...body }, { timeout, signal })
      response = responseInfo(answer)
      if (answer.status === 304 && known) {
        remember(url, known.etag, known.text)
        return { response, value: JSON.parse(known.text) }
      }
      if (answer.status < 200 || answer.status > 299) return { response, error: readError(answer, url) }
      const value = parse(answer.text, call, response, url)
      const etag = answer.header("ETag")
      if (call.operation === "getToken" && etag !== null) remember(url, etag, answer.text)
      return { response, value }
    } catch (error) {
      if (error instanceof ApiError || error instanceof ConnectionError) return { response, error }
      throw error
    }
  }

  return async function send<Body>(call: Call): Promise<Body> {
    const { operation } = call
    const route = routes[operation]
    const url = sender.baseUrl + targetOf(route.path, call)
    /** The current attempt, unless an error was thrown by other code, such as a hook. */
    let ended: AttemptInfo | undefined
    const outcome = await retry(
      async ({ attempt: count }) => {
        ended = undefined
        const request = { operation, method: route.method, url, attempt: count }
        const start = Date.now()
        const outcome = await attempt(request, route, call)
        const seconds = (Date.now() - start) / 1000
        const error = "error" in outcome ? outcome.error : null
        ended = { request, seconds, response: outcome.response, error, retryInSeconds: null }
        return outcome
      },
      sender.policy,
      {
        sleep: sender.sleep,
        now: Date.now,
        random: sender.random,
        signal: call.options.signal,
        classify: () => (ended ? classifyError(ended.error) : { verdict: "permanent", reason: "thrown" }),
        onAttempt: ({ next }) =>
          ended && sender.onResponse?.({ ...ended, retryInSeconds: next.retry ? next.delay / 1000 : null }),
      },
    )
    const { response } = outcome
    const result = "error" in outcome ? outcome.error : outcome.value
    if (typeof result === "object" && result !== null && response !== null) sender.responses.set(result, response)
    if ("error" in outcome) throw outcome.error
    return outcome.value as Body
  }
}

function parse(text: string, { cursors }: Call, response: ResponseInfo, url: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw cursors ? notAPage("it is not JSON", response, { cause }) : new ConnectionError("unreadable", url, cause)
  }
  const problem = cursors && problemOf(value, cursors)
  if (problem !== undefined) throw notAPage(problem, response)
  return value
}

/** Adds headers that the client doesn't set itself (case-insensitive). Skips undefined values. */
function withoutDuplicates(
  added: Readonly<Record<string, string>> | undefined,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()))
  const others = Object.entries(added ?? {}).filter(
    ([name, value]) => value !== undefined && !names.has(name.toLowerCase()),
  )
  return { ...Object.fromEntries(others), ...own }
}

function targetOf(path: string, { path: parameters = {}, query = {} }: Call): string {
  const pairs = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const one of value) pairs.append(`${name}[]`, String(one))
    else if (value !== undefined) pairs.append(name, value instanceof Date ? timestampOf(name, value) : String(value))
  }
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => segmentOf(name, parameters[name]))
  const search = pairs.toString()
  return search === "" ? filled : `${filled}?${search}`
}

/** Formats a date for the service. */
export function timestampOf(name: string, date: Date): string {
  if (Number.isNaN(date.getTime())) throw new TypeError(`${name} is a Date that is not valid`)
  return date.toISOString()
}

/** Escapes a path parameter. Rejects empty values and dots, which `fetch` would resolve as another path. */
function segmentOf(name: string, value: unknown): string {
  if (typeof value !== "string" || value === "" || value === "." || value === "..") {
    throw new TypeError(`${name} must be text, not empty and not only dots`)
  }
  try {
    return encodeURIComponent(value)
  } catch {
    throw new TypeError(`${name} must be well-formed text`)
  }
}

/** Maximum number of empty pages in a row that point to themselves, as while a transaction of the service is open. */
const MAX_UNSETTLED = 30

function notAPage(problem: string, { status, requestId }: ResponseInfo, options?: ErrorOptions): ApiError {
  const message = `The answer is not a page of a list: ${problem}. Check that baseUrl is the service's and what stands in between; if both are right, tell the service's operators the request id`
  const unknown = { code: null, retryAfter: null, details: null, errors: [], docUrl: null }
  return new ApiError({ ...unknown, type: "api_error", status, message, requestId }, options)
}

/**
 * Returns why a response isn't a page of a list, or why it points to a page that was already requested: the list could end early or never.
 *
 * @param asked - number of requests per cursor
 */
function problemOf(value: unknown, asked: ReadonlyMap<string, number>): string | undefined {
  if (value === null) return "it is null"
  if (Array.isArray(value)) return "it is an array"
  if (typeof value !== "object") return `it is a ${typeof value}`
  const { data, has_more, next_cursor } = value as Record<string, unknown>
  if (!Array.isArray(data)) return "data is not an array"
  if (next_cursor === undefined) return "next_cursor is missing; on the last page it is null"
  if (next_cursor === null) return has_more === true ? "has_more is true, and next_cursor is null" : undefined
  if (typeof next_cursor !== "string" || next_cursor === "") return "next_cursor is neither text nor null"
  const times = asked.get(next_cursor) ?? 0
  return times > (data.length === 0 ? MAX_UNSETTLED : 0)
    ? "next_cursor was followed before, so that the list would never end"
    : undefined
}
