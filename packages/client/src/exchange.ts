import { ConnectionError } from "./ApiError.ts"
import { LONGEST_TIMER } from "./sleep.ts"

/** The subset of WHATWG `fetch` that the client uses. Node 18 or later, Deno, Bun, workers and undici provide it. */
export type Fetch = (url: string, request: FetchRequest) => Promise<FetchResponse>

/** Request options that the client passes to `fetch`. */
export interface FetchRequest {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: string
  readonly redirect: "manual"
  readonly signal: AbortSignal
}

/** The subset of a response that the client reads. */
export interface FetchResponse {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  text(): Promise<string>
}

export interface Answer {
  readonly status: number
  readonly header: (name: string) => string | null
  readonly text: string
}

/** Sends one request and reads the complete response within `timeout` seconds. Rejects with `ConnectionError`, or with the reason of `signal`. */
export async function exchange(
  fetch: Fetch,
  url: string,
  request: Omit<FetchRequest, "signal" | "redirect">,
  { timeout, signal }: { readonly timeout: number; readonly signal: AbortSignal | undefined },
): Promise<Answer> {
  signal?.throwIfAborted()
  // Not AbortSignal.any (requires Node 20.3) and AbortSignal.timeout, which leaves a timer running.
  const controller = new AbortController()
  const stop = (): void => controller.abort()
  const timer = setTimeout(stop, Math.min(timeout * 1000, LONGEST_TIMER))
  signal?.addEventListener("abort", stop)
  try {
    // The service doesn't redirect. Not "error", which Cloudflare's workers reject.
    const response = await fetch(url, { ...request, redirect: "manual", signal: controller.signal })
    const text = await response.text()
    return { status: response.status, header: (name) => response.headers.get(name), text }
  } catch (error) {
    signal?.throwIfAborted()
    throw new ConnectionError(controller.signal.aborted ? "timeout" : "network", url, error)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener("abort", stop)
  }
}
