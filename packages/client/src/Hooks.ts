import type { ApiError, ConnectionError } from "./ApiError.ts"
import type { ResponseInfo } from "./ResponseInfo.ts"
import type { OperationId } from "./routes.ts"

/** One attempt of a call before it is sent, without API key, signatures and body. */
export interface RequestInfo {
  readonly operation: OperationId
  readonly method: string
  readonly url: string
  /** 1 for the first attempt of a call. */
  readonly attempt: number
}

/** Result of one attempt. */
export interface AttemptInfo {
  readonly request: RequestInfo
  /** Duration of the attempt, up to the last byte of the response. */
  readonly seconds: number
  /** Null without a complete response. */
  readonly response: ResponseInfo | null
  /** Null after a success. */
  readonly error: ApiError | ConnectionError | null
  /** Seconds until the next attempt; null if there is none. */
  readonly retryInSeconds: number | null
}

/** Functions that are called for each attempt of each call. If one throws, the call fails with that error. */
export interface Hooks {
  /** Called before each attempt. May return headers to add, such as `traceparent`; they can't replace the client's own. */
  readonly onRequest?:
    | ((request: RequestInfo) => HookHeaders | undefined | PromiseLike<HookHeaders | undefined>)
    | undefined
  /** Called after each attempt, unless the caller's signal aborted it. */
  readonly onResponse?: ((attempt: AttemptInfo) => unknown) | undefined
}

type HookHeaders = Readonly<Record<string, string>>
