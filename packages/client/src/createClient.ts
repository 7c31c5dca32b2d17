import type { List, RecipientRecord } from "@outreach/contract/types"
import { sign } from "@outreach/signature"
import type { Client, IdempotencyOptions, SyncOptions } from "./Client.ts"
import type { Fetch } from "./exchange.ts"
import type { FeedEvent } from "./FeedEvent.ts"
import type { Hooks } from "./Hooks.ts"
import { type Pages, paginate } from "./paginate.ts"
import type { ResponseInfo } from "./ResponseInfo.ts"
import { retryPolicy } from "./retryPolicy.ts"
import type { OperationId } from "./routes.ts"
import { type Call, type CallOptions, makeSend, timestampOf } from "./send.ts"
import { type Sleep, sleep as timerSleep } from "./sleep.ts"
import { type Checkpoint, syncEvents } from "./syncEvents.ts"

/** Options of `createClient`. */
export interface ClientOptions extends Hooks {
  /** The API key. Sent only to `baseUrl`. */
  readonly apiKey: string
  /** URL of the deployment, with or without `/v1`. */
  readonly baseUrl: string
  /** Appended to the client's own `User-Agent`, such as `acme-poller/1.2`. */
  readonly userAgent?: string | undefined
  /** Default: the runtime's `fetch`. */
  readonly fetch?: Fetch | undefined
  /** Maximum seconds per attempt, up to the last byte of the response. Default 30. */
  readonly timeout?: number | undefined
  /** Seconds before each retry; each wait is randomly reduced by up to a half. Default 0.5, 1, 2, 4. */
  readonly retryDelays?: readonly number[] | undefined
  /** Maximum seconds of one wait. If an error requires a longer one, it is thrown. Default 120. */
  readonly longestWait?: number | undefined
  /** Maximum number of records cached by ETag. Default 1,000; 0 disables the cache. */
  readonly cacheSize?: number | undefined
  /** Waits between attempts and between passes. Default: the runtime's timer. */
  readonly sleep?: Sleep | undefined
  /** Uniform in [0, 1). Default: `Math.random`. */
  readonly random?: (() => number) | undefined
}

const EVERY_QUARTER_HOUR = 900
const MOST_PER_PAGE = 500

/** Creates a client. Throws `TypeError` or `RangeError` on unusable options, such as an empty key. */
export function createClient({
  apiKey,
  baseUrl,
  userAgent: addition,
  fetch = globalThis.fetch,
  timeout = 30,
  retryDelays = [0.5, 1, 2, 4],
  longestWait = 120,
  cacheSize = 1000,
  sleep = timerSleep,
  random = Math.random,
  onRequest,
  onResponse,
}: ClientOptions): Client {
  assertApiKey(apiKey)
  assertSeconds("timeout", timeout, "above zero")
  for (const delay of retryDelays) assertSeconds("each of retryDelays", delay, "zero")
  assertSeconds("longestWait", longestWait, "zero")
  const responses = new WeakMap<object, ResponseInfo>()
  const send = makeSend({
    apiKey,
    baseUrl: parseBaseUrl(baseUrl),
    userAgent: userAgent(addition),
    fetch,
    sleep,
    timeout,
    cacheSize,
    policy: retryPolicy(retryDelays, longestWait),
    random,
    onRequest,
    onResponse,
    responses,
  })

  /** Creates a page reader that rejects repeated cursors. */
  const createReader = <Item>(call: Call) => {
    const cursors = new Map<string, number>()
    return (cursor: string | undefined, place: { readonly since?: string } = {}): Promise<List<Item>> => {
      if (cursor === undefined) cursors.clear()
      else cursors.set(cursor, (cursors.get(cursor) ?? 0) + 1)
      return send({ ...call, query: { ...call.query, ...place, cursor }, cursors })
    }
  }
  const list = <Item>(operation: OperationId, given: Asked, path: Call["path"] = {}): Pages<Item> => {
    const { query, options } = split(given)
    const { cursor: first, ...others } = query as { readonly cursor?: string }
    return paginate(() => createReader<Item>({ operation, path, query: others, options }), first)
  }

  return {
    getHealth: async (given = {}) => send({ operation: "getHealth", ...split(given) }),
    getToken: async (token, given = {}) => send({ operation: "getToken", path: { token }, ...split(given) }),
    listTokens: (given) => list<RecipientRecord>("listTokens", given),
    listEvents: (given) => list<FeedEvent>("listEvents", given),
    listCampaignRecipients: (id, given = {}) => list<RecipientRecord>("listCampaignRecipients", given, { id }),
    getDigest: async (date, given = {}) => send({ operation: "getDigest", ...split({ ...given, date }) }),
    sendEvent: async (endpoint_id, event, { secrets, ...given }) => {
      const body = JSON.stringify(event)
      // Signed for each attempt, because a wait may exceed the replay window.
      const headers = async () => ({
        "X-Signature": await sign(body, secrets, { timestamp: Math.floor(Date.now() / 1000) }),
      })
      return send({ operation: "receiveWebhook", path: { endpoint_id }, body, headers, ...split(given) })
    },
    createSurvey: async (survey, given = {}) => {
      const { idempotencyKey = newKey(), ...rest } = split(given)
      return send({ operation: "createSurvey", body: JSON.stringify(survey), idempotencyKey, ...rest })
    },
    validateSurvey: async (survey, given = {}) =>
      send({ operation: "validateSurvey", body: JSON.stringify(survey), ...split(given) }),
    presignUpload: async (filename, given = {}) =>
      send({ operation: "presignUpload", ...split({ ...given, filename }) }),
    sync: {
      events: ({
        checkpoint,
        everySeconds = EVERY_QUARTER_HOUR,
        overlapSeconds = 5,
        limit = MOST_PER_PAGE,
        ...given
      }) => {
        if (!Number.isSafeInteger(overlapSeconds) || overlapSeconds < 0) {
          throw new RangeError("overlapSeconds must be a whole number of seconds, 0 or more")
        }
        if (everySeconds !== null) assertSeconds("everySeconds", everySeconds, "zero")
        const { query, options } = split(given)
        const read = createReader<FeedEvent>({ operation: "listEvents", query: { ...query, limit }, options })
        return syncEvents({
          checkpoint: startOf(checkpoint),
          everySeconds,
          overlapSeconds,
          signal: options.signal,
          sleep,
          read: ({ since, cursor }) => read(cursor, { since }),
        })
      },
    },
    responseOf: (result) => responses.get(result),
  }
}

type Asked = CallOptions & IdempotencyOptions

/** Separates call options from query parameters. */
function split<Given extends Asked>(
  given: Given,
): Pick<Call, "options" | "idempotencyKey"> & { readonly query: object } {
  const { signal, timeout, idempotencyKey, ...query } = given
  if (timeout !== undefined) assertSeconds("timeout", timeout, "above zero")
  if (idempotencyKey !== undefined && !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) {
    throw new TypeError("idempotencyKey must be 1 to 255 printable ASCII characters")
  }
  return { options: { signal, timeout }, idempotencyKey, query }
}

/** Returns the initial checkpoint of a reconciliation; its time may be a `Date`. */
function startOf(checkpoint: SyncOptions["checkpoint"]): Checkpoint {
  const since: unknown = checkpoint?.since
  if (since instanceof Date) return { ...checkpoint, since: timestampOf("since", since) }
  if (typeof since === "string") return { ...checkpoint, since }
  throw new TypeError("checkpoint must be the stored one or, the first time, { since }")
}

// Node 18 has no global crypto. A key must be unique for a day within an organization, not secret.
function newKey(): string {
  return globalThis.crypto?.randomUUID?.() ?? `${Date.now()}-${Math.random()}-${Math.random()}`
}

/** Version of this package, set by its build. */
declare const CLIENT_VERSION: string | undefined

/** Returns the `User-Agent`: the client's name and version, the runtime's, and the caller's addition. */
function userAgent(addition: string | undefined): string {
  if (addition !== undefined && !/^[\x20-\x7e]+$/.test(addition)) {
    throw new TypeError("userAgent must be printable ASCII characters, such as acme-poller/1.2")
  }
  const version = typeof CLIENT_VERSION === "undefined" ? "0.0.0" : CLIENT_VERSION
  // `Node.js/24`, `Deno/2.5`, `Bun/1.3`, `Cloudflare-Workers`. Node 20 and older have no navigator.
  const runtime =
    globalThis.navigator?.userAgent ?? `Node.js/${Number.parseInt(globalThis.process?.versions?.node, 10)}`
  return [`outreach-client/${version}`, runtime, addition].filter((part) => part !== undefined).join(" ")
}

/** Rejects an API key that isn't a valid header value, without quoting it. */
function assertApiKey(apiKey: unknown): asserts apiKey is string {
  if (apiKey === undefined || apiKey === null || apiKey === "") {
    throw new TypeError(
      `apiKey is ${apiKey === "" ? "empty" : apiKey}: give the whole key, such as process.env.OUTREACH_KEY, and check that it is set`,
    )
  }
  // Checked here because `fetch` would quote an invalid header in its error.
  if (typeof apiKey !== "string" || !/^[\x21-\x7e]+$/.test(apiKey) || /^["'`]|["'`]$/.test(apiKey)) {
    throw new TypeError(
      "apiKey must be printable ASCII characters without a space, a line break or quotes: give the key alone, as it was issued",
    )
  }
}

/** Returns the base URL without trailing `/v1` and slashes. */
function parseBaseUrl(baseUrl: unknown): string {
  const url = typeof baseUrl === "string" ? urlOf(baseUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError("baseUrl must be an address with http or https, such as https://api.example.com")
  }
  if (url.username + url.password + url.search + url.hash !== "") {
    throw new TypeError("baseUrl must be without a user, a password, a query and a fragment")
  }
  return url.origin + url.pathname.replace(/(?:\/+v1)?\/*$/, "")
}

function urlOf(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

/** Rejects invalid durations, such as NaN. */
function assertSeconds(name: string, seconds: unknown, min: "zero" | "above zero"): void {
  const good = typeof seconds === "number" && (min === "zero" ? seconds >= 0 : seconds > 0)
  if (!good)
    throw new RangeError(`${name} must be a number of seconds, ${min === "zero" ? "0 or more" : "more than 0"}`)
}
