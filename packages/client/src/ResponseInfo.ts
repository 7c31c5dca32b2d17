import type { Answer } from "./exchange.ts"

/** How much of its rate limit a key has left. */
export interface RateLimit {
  /** Requests allowed in a window. */
  readonly limit: number
  /** Requests left in the window. */
  readonly remaining: number
  /** When the window ends, in Unix seconds. */
  readonly reset: number
}

/** What came with an answer, beside its body. */
export interface ResponseInfo {
  /** HTTP status; 304 for a record that is served from memory. */
  readonly status: number
  /** Names the request to the service's operators; null when the answer did not. */
  readonly requestId: string | null
  /** Null when the answer held no rate limit, as that of the health check. */
  readonly rateLimit: RateLimit | null
  /** Returns a header by its name, in any case; null when there is none. */
  readonly header: (name: string) => string | null
}

export function responseInfo({ status, header }: Pick<Answer, "status" | "header">): ResponseInfo {
  const [limit, remaining, reset] = ["Limit", "Remaining", "Reset"].map((name) => {
    const text = header(`X-RateLimit-${name}`)
    return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
  })
  const known = limit !== undefined && remaining !== undefined && reset !== undefined
  return {
    status,
    requestId: header("X-Request-Id"),
    rateLimit: known ? { limit, remaining, reset } : null,
    header,
  }
}
