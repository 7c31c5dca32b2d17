import { TRACKING_PATHS, type TrackingKind } from "@outreach/domain/hits/TrackingLinks"
import { Effect, FiberSet, Schedule, Semaphore } from "effect"
import type { Email } from "postal-mime"
import { type Behavior, behaviorOf } from "./behaviorOf.ts"

/** The maximum of messages that wait to be read. Further ones are dropped, so that memory does not grow with the campaign. */
const MAX_WAITING = 2000
const READ_CONCURRENCY = 8
const RETRY_MS = 2000
/** The wait of a mail filter. */
const SCAN_MS = 250
const REQUEST_TIMEOUT_MS = 5000

const BROWSER = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"
const MAIL_FILTER = "Barracuda Sentinel (EE)"

/**
 * Simulates the clinicians' mail programs until the scope closes: clinicians open, click and unsubscribe, and mail filters follow links.
 *
 * Follows only links that begin with `baseUrl`.
 */
export const simulateMailboxes = Effect.fnUntraced(function* (baseUrl: string) {
  const fork = yield* FiberSet.makeRuntime()
  const reading = yield* Semaphore.make(READ_CONCURRENCY)
  let waiting = 0
  let unsubscribed = 0

  const read = ({ html = "", headers }: Email, behavior: Behavior) =>
    Effect.tryPromise(async (signal) => {
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

  return {
    receive: (to: string, content: Email): void => {
      const behavior = behaviorOf(to)
      if (!(behavior.scanned || behavior.opens) || waiting === MAX_WAITING) return
      waiting += 1
      // The API may be restarting.
      const reads = Effect.retry(reading.withPermit(read(content, behavior)), Schedule.spaced(RETRY_MS))
      const done = Effect.sync(() => {
        waiting -= 1
      })
      fork(reads.pipe(Effect.delay(behavior.scanned ? SCAN_MS : behavior.readAfterMs), Effect.ensuring(done)))
    },
    unsubscribed: () => unsubscribed,
  }
})
