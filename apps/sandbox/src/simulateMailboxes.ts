import { TRACKING_PATHS, type TrackingKind } from "@outreach/domain/hits/TrackingLinks"
import { Clock, Effect } from "effect"
import PostalMime from "postal-mime"
import { type Behavior, behaviorOf } from "./behaviorOf.ts"

/** The maximum of messages that wait to be read. Beyond it the oldest is dropped, so that memory does not grow with the campaign. */
const MAX_WAITING = 2000
const READ_CONCURRENCY = 8
const RETRY_MS = 2000
const REQUEST_TIMEOUT_MS = 5000

const BROWSER = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"
const MAIL_FILTER = "Barracuda Sentinel (EE)"

interface Message {
  readonly raw: Buffer
  readonly behavior: Behavior
  readonly dueAt: number
}

/**
 * Simulates the clinicians' mail programs until the scope closes: clinicians open, click and unsubscribe, and mail filters follow links.
 *
 * Follows only links that begin with `baseUrl`.
 */
export const simulateMailboxes = Effect.fnUntraced(function* (baseUrl: string) {
  const clock = yield* Clock.Clock
  let waiting: Array<Message> = []
  let unsubscribed = 0

  const read = ({ raw, behavior }: Message) =>
    Effect.tryPromise(async (signal) => {
      const { html = "", headers } = await PostalMime.parse(raw)
      const unsubscription = headers.find(({ key }) => key === "list-unsubscribe")?.value ?? ""
      const links = `${html} ${unsubscription}`.match(/https?:\/\/[^\s"'<>]+/g) ?? []
      const request = async (kind: TrackingKind, userAgent: string, options: RequestInit = {}) => {
        const url = links.find((link) => link.startsWith(baseUrl + TRACKING_PATHS[kind]))
        if (url === undefined) return
        const { status } = await fetch(url, {
          headers: { "User-Agent": userAgent },
          redirect: "manual",
          signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
          ...options,
        })
        if (status >= 500) throw new Error(`${kind} failed with ${status}`)
      }
      if (behavior.scanned) await request("click", MAIL_FILTER, { method: "HEAD" })
      if (behavior.opens) await request("open", BROWSER)
      if (behavior.clicks) await request("click", BROWSER)
      if (behavior.unsubscribes) {
        const body = new URLSearchParams({ "List-Unsubscribe": "One-Click" })
        await request("unsubscribe", BROWSER, { method: "POST", body })
        unsubscribed += 1
      }
    })

  const readDue = Effect.gen(function* () {
    const now = clock.currentTimeMillisUnsafe()
    const due = waiting.filter(({ dueAt }) => dueAt <= now)
    waiting = waiting.filter(({ dueAt }) => dueAt > now)
    yield* Effect.forEach(
      due,
      (message) =>
        // The API may be restarting.
        Effect.catch(read(message), () => Effect.sync(() => waiting.push({ ...message, dueAt: now + RETRY_MS }))),
      { concurrency: READ_CONCURRENCY, discard: true },
    )
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.ignoreCause(readDue), Effect.sleep(250))))

  return {
    receive: (to: string, raw: Buffer): void => {
      const behavior = behaviorOf(to)
      if (!(behavior.scanned || behavior.opens)) return
      waiting.push({
        raw,
        behavior,
        dueAt: clock.currentTimeMillisUnsafe() + (behavior.scanned ? 0 : behavior.readAfterMs),
      })
      if (waiting.length > MAX_WAITING) waiting.shift()
    },
    unsubscribed: () => unsubscribed,
  }
})
