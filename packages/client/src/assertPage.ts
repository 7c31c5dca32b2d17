import { ApiError } from "./ApiError.ts"
import type { ResponseInfo } from "./ResponseInfo.ts"

/** How often a page may be empty and lead to itself: its end is not settled, as while a transaction of the service lasts. */
const MAX_UNSETTLED = 30

/**
 * Refuses an answer that is not a page of a list, or that leads on to a page that was asked for before.
 *
 * Without this a list would end early or never.
 *
 * @param asked - how often each cursor was asked for
 */
export function assertPage(value: unknown, asked: ReadonlyMap<string, number>, response: ResponseInfo): void {
  const problem = problemOf(value, asked)
  if (problem !== undefined) throw notAPage(problem, response)
}

export function notAPage(problem: string, { status, requestId }: ResponseInfo, options?: ErrorOptions): ApiError {
  const message = `The answer is not a page of a list: ${problem}. Check that baseUrl is the service's and what stands in between; if both are right, tell the service's operators the request id`
  return new ApiError(
    {
      status,
      type: "api_error",
      code: null,
      message,
      requestId,
      retryAfter: null,
      details: null,
      errors: [],
      docUrl: null,
    },
    options,
  )
}

function problemOf(value: unknown, asked: ReadonlyMap<string, number>): string | undefined {
  if (value === null) return "it is null"
  if (Array.isArray(value)) return "it is an array"
  if (typeof value !== "object") return `it is a ${typeof value}`
  const { data, has_more, next_cursor } = value as Record<string, unknown>
  if (!Array.isArray(data)) return "data is not an array"
  if (next_cursor === undefined) return "next_cursor is missing; on the last page it is null"
  if (next_cursor === null) return has_more === true ? "has_more is true, and next_cursor is null" : undefined
  if (typeof next_cursor !== "string" || next_cursor === "") return "next_cursor is neither text nor null"
  const times = asked.get(next_cursor) ?? 0
  return times > (data.length === 0 ? MAX_UNSETTLED : 0)
    ? "next_cursor was followed before, so that the list would never end"
    : undefined
}
