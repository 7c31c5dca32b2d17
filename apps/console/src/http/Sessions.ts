import type { Operator } from "@outreach/domain/operators/Operator"
import { Context, type Effect } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { PageError } from "./PageError.ts"

/** An operator who is signed in, and the token of the session. */
export interface SignedIn {
  readonly operator: Operator
  readonly sessionToken: string
  /** Whether the session begins with this request, so that the browser has yet to get its cookie. */
  readonly isNew: boolean
}

/** Finds out who sends a request. */
export class Sessions extends Context.Service<
  Sessions,
  {
    /** Returns who is signed in; undefined if nobody is. Fails if the client may not even ask. */
    readonly find: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<SignedIn | undefined, PageError>
    readonly setCookie: (
      response: HttpServerResponse.HttpServerResponse,
      sessionToken: string,
    ) => HttpServerResponse.HttpServerResponse
    readonly removeCookie: (response: HttpServerResponse.HttpServerResponse) => HttpServerResponse.HttpServerResponse
  }
>()("console/http/Sessions") {}
