import type { LegacyError, PartnerError } from "@outreach/contract/types"

type ErrorType = PartnerError["error"]["type"]
type ErrorCode = PartnerError["error"]["code"] | LegacyError["error"]["code"]
type Faults = readonly Readonly<NonNullable<LegacyError["error"]["errors"]>[number]>[]

/** An unsuccessful or invalid response. Branch on `type`; new codes are added over time. */
export class ApiError extends Error {
  override readonly name: string = "ApiError"
  /** HTTP status. */
  declare readonly status: number
  /** Error type. If the response has no error body, derived from its status. */
  declare readonly type: ErrorType
  /** Error code; null if the response has no error body, for example from a proxy. */
  declare readonly code: ErrorCode | null
  /** Id of the request, for support; null if the response has none. */
  declare readonly requestId: string | null
  /** Seconds that the service asks to wait; null if unspecified. */
  declare readonly retryAfter: number | null
  /** Free-form details, such as `parameter`. */
  declare readonly details: Readonly<Record<string, unknown>> | null
  /** Faults of a submitted survey; empty for other errors. */
  declare readonly errors: Faults
  /** Documentation URL of the code. */
  declare readonly docUrl: string | null

  constructor(fields: ApiErrorFields, options?: ErrorOptions) {
    super(fields.message, options)
    Object.assign(this, fields)
  }
}

/** Fields of an `ApiError`. */
export type ApiErrorFields = Omit<ApiError, "name" | "stack" | "cause">

const messages = {
  network: "could not be reached, or the connection broke off",
  timeout: "did not answer in time",
  unreadable: "answered something that is not JSON, so it is not the service",
} as const

/** A request without a response. It's unknown whether the service processed it. */
export class ConnectionError extends Error {
  override readonly name: string = "ConnectionError"
  /** `network`: unreachable or interrupted; `timeout`: no complete response in time; `unreadable`: not a response of the service. */
  readonly reason: "network" | "timeout" | "unreadable"

  /** The message contains only the host of the URL, without path and query. */
  constructor(reason: "network" | "timeout" | "unreadable", url: string, cause?: unknown) {
    super(`${new URL(url).origin} ${messages[reason]}`, { cause })
    this.reason = reason
  }
}
