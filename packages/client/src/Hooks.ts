import type { ApiError, ConnectionError } from "./ApiError.ts"
import type { ResponseInfo } from "./ResponseInfo.ts"
import type { OperationId } from "./routes.ts"

/** One attempt of a call, before it is sent: without the API key, signatures and bodies. */
export interface RequestInfo {
  readonly operation: OperationId
  readonly method: string
  readonly url: string
  /** 1 for the first attempt of a call. */
  readonly attempt: number
}

/** The outcome of one attempt. */
export interface AttemptInfo {
  readonly request: RequestInfo
  /** How long the attempt took, to the last byte of its answer. */
  readonly seconds: number
  /** Null when no whole answer came. */
  readonly response: ResponseInfo | null
  /** Null after a success. */
  readonly error: ApiError | ConnectionError | null
  /** In how many seconds the call is sent again; null when it is not. */
  readonly retryInSeconds: number | null
}

/** Functions that are called with each attempt of each call; an error that one throws ends the call. */
export interface Hooks {
  /** Called before each attempt. May return headers to send along, such as `traceparent`; none replaces one of the client's own. */
  readonly onRequest?:
    | ((request: RequestInfo) => HookHeaders | undefined | PromiseLike<HookHeaders | undefined>)
    | undefined
  /** Called after each attempt, except one that the caller's signal ended. */
  readonly onResponse?: ((attempt: AttemptInfo) => unknown) | undefined
}

type HookHeaders = Readonly<Record<string, string>>
