import type { Answer } from "./exchange.ts"

/** Rate limit of the API key. */
export interface RateLimit {
  /** Requests per window. */
  readonly limit: number
  /** Remaining requests of the window. */
  readonly remaining: number
  /** End of the window in Unix seconds. */
  readonly reset: number
}

/** Response data other than the body. */
export interface ResponseInfo {
  /** HTTP status; 304 for a cached record. */
  readonly status: number
  /** Id of the request, for support; null if the response has none. */
  readonly requestId: string | null
  /** Null if the response has no rate limit, as for the health check. */
  readonly rateLimit: RateLimit | null
  /** Returns a header by case-insensitive name; null if it is missing. */
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
