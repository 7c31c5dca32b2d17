import { createHmac, randomBytes } from "node:crypto"
import { Agent as HttpAgent } from "node:http"
import { Agent as HttpsAgent } from "node:https"
import { setTimeout } from "node:timers/promises"
import { ApiError, type Checkpoint, ConnectionError, createClient } from "@outreach/client"
import type { FeedEventType } from "@outreach/contract/names"
import { classify } from "@outreach/retry-policy"
import { sign } from "@outreach/signature/node"
import { type PostResult, postWebhook } from "./postWebhook.ts"

export interface ListenOptions {
  readonly apiKey: string
  /** URL of the deployment, without `/v1`. */
  readonly baseUrl: string
  readonly forward: URL
  /** Every request is signed with each. */
  readonly secrets: readonly string[]
  /** Whether to also send the Standard Webhooks headers. */
  readonly standardWebhooks: boolean
  /** Event types to forward; empty for all. */
  readonly types: readonly FeedEventType[]
  /** ISO 8601; undefined for the service's current time. */
  readonly since: string | undefined
  readonly print: (line: string) => void
  readonly signal: AbortSignal
}

/** Forwards events of the feed to a receiver. */
export interface Listener {
  /** Forwards an event again: the last one, or the one with this id. */
  readonly repeat: (eventId: string | undefined) => void
  /** Resolves after the signal stopped it. Rejects with a message if the API rejects the requests permanently. */
  readonly ended: Promise<void>
}

/** A request to the receiver. Repeating it increments the attempt number. */
interface Delivery {
  readonly id: string
  readonly eventId: string
  readonly eventType: string
  readonly body: string
  attempt: number
}

const POLL_SECONDS = 2
const USER_AGENT = "outreach-webhook-verifier/listen"
/** Time that the service waits for a response. */
const TIMEOUT_MS = 15_000
/** Number of events that can be repeated by id. */
const MAX_REMEMBERED = 1000

/** Polls the feed and forwards the events one by one, signed as the service signs them. */
export function listen(options: ListenOptions): Listener {
  const { forward: url, secrets, standardWebhooks, print, signal } = options
  const agent = new (url.protocol === "https:" ? HttpsAgent : HttpAgent)({ keepAlive: true })
  const deliveries = new Map<string, Delivery>()

  async function deliver(delivery: Delivery): Promise<void> {
    const { id, eventId, eventType, body } = delivery
    const attempt = ++delivery.attempt
    const began = Date.now()
    const timestamp = Math.floor(began / 1000)
    const headers = {
      "Content-Type": "application/json",
      "X-Signature": sign(body, secrets, { timestamp }),
      "X-Delivery-Id": id,
      "X-Delivery-Attempt": String(attempt),
      ...(standardWebhooks && standardHeaders(eventId, timestamp, body, secrets)),
      "User-Agent": "outreach-partner-api/listen",
      "Accept-Encoding": "identity",
    }
    const result = await postWebhook(url, headers, body, { agent, timeoutMs: TIMEOUT_MS, signal })
    if (signal.aborted) return
    const time = new Date().toTimeString().slice(0, 8)
    const status = "status" in result ? String(result.status) : "---"
    const ms = `${Date.now() - began} ms`.padStart(8)
    print(`${time}  ${status} ${ms}  ${eventType}  ${eventId}${outcomeOf(result)}`)
  }

  async function follow(): Promise<void> {
    const { apiKey, baseUrl, types } = options
    let failure: string | undefined
    const sayFailure = (error: unknown): void => {
      // Report each outage once, although every response has a different request id.
      const kind = error instanceof ApiError ? String(error.status) : "no answer"
      if (kind !== failure) print(`${explainFailure(error, baseUrl)} It is asked again.`)
      failure = kind
    }
    const client = createClient({
      apiKey,
      baseUrl,
      userAgent: USER_AGENT,
      longestWait: Number.POSITIVE_INFINITY,
      onResponse: ({ error, retryInSeconds }) => {
        if (error === null) failure = undefined
        else if (retryInSeconds !== null) sayFailure(error)
      },
    })
    const since = options.since ?? (await presentTime(options))
    print(`Events of ${baseUrl} since ${since} go to ${url.origin}${url.pathname}`)
    let checkpoint: Checkpoint = { since }
    while (!signal.aborted) {
      try {
        const feed = { checkpoint, everySeconds: POLL_SECONDS, signal, ...(types.length > 0 && { types }) }
        for await (const batch of client.sync.events(feed)) {
          for (const event of batch.events) {
            const { event_id: eventId, event_type: eventType } = event
            const id = `dlv_${randomBytes(16).toString("hex")}`
            // The stored text equals the sent text, and this is how it was serialized.
            const delivery = { id, eventId, eventType, body: JSON.stringify(event), attempt: 0 }
            remember(deliveries, delivery)
            await deliver(delivery)
            if (signal.aborted) return
          }
          checkpoint = batch.checkpoint
        }
      } catch (error) {
        if (signal.aborted) return
        if (!isTemporary(error)) throw new Error(explainFailure(error, baseUrl))
        sayFailure(error)
        await setTimeout(POLL_SECONDS * 1000, undefined, { signal }).catch(() => {})
      }
    }
  }

  return {
    ended: follow().finally(() => agent.destroy()),
    repeat: (eventId) => {
      const delivery = eventId === undefined ? [...deliveries.values()].at(-1) : deliveries.get(eventId)
      if (delivery !== undefined) void deliver(delivery)
      else print(eventId === undefined ? "No event has come yet." : `No event ${eventId} was forwarded.`)
    },
  }
}

/** Signs as an endpoint with `standardWebhooks` does: the key is the decoded part after `whsec_`. */
function standardHeaders(
  id: string,
  timestamp: number,
  body: string,
  secrets: readonly string[],
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64")
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`
  })
  return { "webhook-id": id, "webhook-timestamp": String(timestamp), "webhook-signature": signatures.join(" ") }
}

function remember(deliveries: Map<string, Delivery>, delivery: Delivery): void {
  deliveries.set(delivery.eventId, delivery)
  const [oldest] = deliveries.keys()
  if (deliveries.size > MAX_REMEMBERED && oldest !== undefined) deliveries.delete(oldest)
}

const CONSEQUENCES = {
  success: "",
  transient: "  the service would try again",
  permanent: "  the service would not try again",
} as const

function outcomeOf(result: PostResult): string {
  if ("failure" in result) return `  ${result.failure}${CONSEQUENCES.transient}`
  const { verdict } = classify({ ...result, headers: {} }, { retryOn: ["1xx", "3xx", "5xx"] })
  if (verdict === "success") return ""
  // Receiver output must not contain terminal control sequences.
  const text = result.text.replace(/[\s\p{C}]+/gu, " ").trim()
  return `${CONSEQUENCES[verdict]}${text === "" ? "" : `\n          ${text.slice(0, 300)}`}`
}

/** Reads the API's clock, because the local one may be wrong. */
async function presentTime({ apiKey, baseUrl, signal }: ListenOptions): Promise<string> {
  const client = createClient({ apiKey, baseUrl, userAgent: USER_AGENT, retryDelays: [] })
  const health = await client.getHealth({ signal }).catch((error: unknown) => {
    throw new Error(explainFailure(error, baseUrl))
  })
  return new Date(client.responseOf(health)?.header("date") ?? Date.now()).toISOString()
}

function isTemporary(error: unknown): boolean {
  if (error instanceof ApiError) return error.type === "api_error" || error.type === "rate_limit_error"
  return error instanceof ConnectionError
}

function explainFailure(error: unknown, baseUrl: string): string {
  if (error instanceof ApiError) {
    const said = `${error.status}${error.code === null ? "" : ` ${error.code}`}${error.requestId === null ? "" : `, ${error.requestId}`}`
    if (error.status === 401)
      return `${baseUrl} does not accept the API key (${said}): each deployment has keys of its own; the sandbox's is api_key in .sandbox/sandbox.json of the clone that it runs in.`
    if (error.status === 403) return `The API key may not read events (${said}): use one with the scope events:read.`
    if (error.status === 429) {
      const seconds = error.retryAfter === null ? "" : ` It asks to wait ${error.retryAfter} s.`
      return `The API key is over its limit of requests (${said}).${seconds}`
    }
    return `${baseUrl} answered ${said}: ${error.message}`
  }
  if (error instanceof ConnectionError) {
    const cause = (error.cause as Error | undefined)?.cause as NodeJS.ErrnoException | undefined
    const why = cause === undefined ? "" : ` (${cause.code ?? cause.message})`
    return `${error.message}${why}. Is it the address of the API, and does the sandbox run?`
  }
  throw error
}
