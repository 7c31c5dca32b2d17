import type { Operator } from "@outreach/domain/operators/Operator"
import { Context, type Effect } from "effect"
import type { HttpServerRequest } from "effect/http"

/** An operator who is signed in, and the token of the session. */
export interface SignedIn {
  readonly operator: Operator
  readonly sessionToken: string
}

/** Finds out who sends a request. */
export class Sessions extends Context.Service<
  Sessions,
  {
    /** Returns who is signed in; undefined if nobody is. */
    readonly find: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<SignedIn | undefined>
  }
>()("console/http/Sessions") {}
