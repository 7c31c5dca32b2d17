import { ConnectionError } from "./ConnectionError.ts"
import type { Fetch, FetchRequest } from "./Fetch.ts"
import { LONGEST_TIMER } from "./sleep.ts"

/** A whole answer. */
export interface Answer {
  readonly status: number
  readonly header: (name: string) => string | null
  readonly text: string
}

/** Sends one request and reads the whole answer, within `timeout` seconds. Rejects with `ConnectionError`, or with the reason of `signal`. */
export async function exchange(
  fetch: Fetch,
  url: string,
  request: Omit<FetchRequest, "signal" | "redirect">,
  { timeout, signal }: { readonly timeout: number; readonly signal: AbortSignal | undefined },
): Promise<Answer> {
  signal?.throwIfAborted()
  // Not AbortSignal.any and AbortSignal.timeout: the first came with Node 18.17, and this one leaves no timer behind.
  const controller = new AbortController()
  const stop = (): void => controller.abort()
  const timer = setTimeout(stop, Math.min(timeout * 1000, LONGEST_TIMER))
  signal?.addEventListener("abort", stop)
  try {
    // The service redirects nobody. Not "error", which Cloudflare's workers refuse.
    const response = await fetch(url, { ...request, redirect: "manual", signal: controller.signal })
    const text = await response.text()
    return { status: response.status, header: (name) => response.headers.get(name), text }
  } catch (error) {
    signal?.throwIfAborted()
    throw new ConnectionError(controller.signal.aborted ? "timeout" : "network", error)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener("abort", stop)
  }
}
