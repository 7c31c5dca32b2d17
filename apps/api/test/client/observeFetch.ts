import type { Fetch } from "@outreach/client"

/** One attempt of a client, as it came back. */
export interface Attempt {
  readonly url: string
  readonly status: number
  readonly headers: Headers
  readonly idempotencyKey: string | undefined
}

/** Creates a `fetch` that notes each attempt once its answer was read; what `after` throws is all that the client learns of it. */
export const observeFetch = (
  after: (attempt: Attempt, count: number) => void = () => {},
): { readonly fetch: Fetch; readonly attempts: Array<Attempt> } => {
  const attempts: Array<Attempt> = []
  return {
    attempts,
    fetch: async (url, request) => {
      const response = await fetch(url, request)
      const { status, headers } = response
      const body = await response.text()
      const attempt = { url, status, headers, idempotencyKey: request.headers["Idempotency-Key"] }
      after(attempt, attempts.push(attempt))
      return { status, headers, text: async () => body }
    },
  }
}
