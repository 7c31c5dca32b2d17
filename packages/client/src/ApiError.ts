import type { LegacyError, PartnerError } from "@outreach/contract/types"

type ErrorType = PartnerError["error"]["type"]
type ErrorCode = PartnerError["error"]["code"] | LegacyError["error"]["code"]
type Faults = readonly Readonly<NonNullable<LegacyError["error"]["errors"]>[number]>[]

/** An answer of the service that is not a success, or not what was asked for. Branch on `type`; codes are added over time. */
export class ApiError extends Error {
  override readonly name: string = "ApiError"
  /** HTTP status. */
  declare readonly status: number
  /** The kind of error; for an answer without one, what its status stands for. */
  declare readonly type: ErrorType
  /** The error's code; null when the answer held no error body, as from a proxy in between. */
  declare readonly code: ErrorCode | null
  /** Names the request to the service's operators; null when the answer did not. */
  declare readonly requestId: string | null
  /** Seconds that the service asked to wait; null when it did not. */
  declare readonly retryAfter: number | null
  /** Free-form details, such as `parameter`. */
  declare readonly details: Readonly<Record<string, unknown>> | null
  /** Faults of a submitted survey; empty elsewhere. */
  declare readonly errors: Faults
  /** The code's entry in the published guide. */
  declare readonly docUrl: string | null

  constructor(fields: ApiErrorFields, options?: ErrorOptions) {
    super(fields.message, options)
    Object.assign(this, fields)
  }
}

/** What the service said of a request that it refused or could not answer. */
export type ApiErrorFields = Omit<ApiError, "name" | "stack" | "cause">

const messages = {
  network: "could not be reached, or the connection broke off",
  timeout: "did not answer in time",
  unreadable: "answered something that is not JSON, so it is not the service",
} as const

/** A request that has no answer. Whether the service acted on it is not known. */
export class ConnectionError extends Error {
  override readonly name: string = "ConnectionError"
  /** `network`: unreachable or broken off; `timeout`: no whole answer in time; `unreadable`: an answer, but not the service's. */
  readonly reason: "network" | "timeout" | "unreadable"

  /** The message names the host of the request's address, without path and query. */
  constructor(reason: "network" | "timeout" | "unreadable", url: string, cause?: unknown) {
    super(`${new URL(url).origin} ${messages[reason]}`, { cause })
    this.reason = reason
  }
}
