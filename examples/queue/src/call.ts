import { classify, type Outcome } from "@outreach/retry-policy"
import type { Job } from "./queue.ts"

const OPTIONS = { retryOn: [408, 425, 429, "5xx", "network"], now: Date.now } as const

/** Makes a job's call and returns its outcome. The key lets the receiver detect a repeated call. */
export async function call({ id, url, body }: Job, timeoutMs: number): Promise<Outcome> {
  try {
    const response = await fetch(url, {
      method: "POST",
      body,
      headers: { "Content-Type": "application/json", "Idempotency-Key": `job-${id}` },
      signal: AbortSignal.timeout(timeoutMs),
    })
    await response.body?.cancel()
    return classify(response, OPTIONS)
  } catch (error) {
    return classify(error, OPTIONS)
  }
}
