import { createIdentifier } from "@outreach/domain/Identifier"
import { transientFailure } from "@outreach/postgres/DatabaseFailure"
import { UnavailableLog } from "@outreach/postgres/UnavailableLog"
import { describeCause } from "@outreach/process/describeCause"
import { Cause, Effect } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { View } from "../view/View.ts"
import { PageError } from "./PageError.ts"
import { renderError } from "./renderPage.tsx"

/**
 * Renders a failure as a page that describes it, and logs a defect. `view` returns the view of the signed-in operator, if any. If the
 * database fails, the form `sent` can be sent again, also when the failure occurred before the operator was known.
 */
export const renderErrors =
  <R1>(path: string, view: () => View | undefined, sent: Effect.Effect<URLSearchParams | undefined, never, R1>) =>
  <R>(answer: Effect.Effect<HttpServerResponse.HttpServerResponse, PageError, R>) =>
    answer.pipe(
      Effect.catchTag("PageError", (error) => Effect.succeed(renderError(view(), error))),
      Effect.catchCauseIf(
        (cause) => !Cause.hasInterruptsOnly(cause),
        Effect.fnUntraced(function* (cause) {
          const requestId = yield* createIdentifier("request")
          const failure = transientFailure(cause)
          if (failure !== undefined) {
            yield* (yield* UnavailableLog).count(failure, requestId)
            const { method, url } = yield* HttpServerRequest.HttpServerRequest
            return renderError(view(), unavailable, { method, address: url, form: yield* sent })
          }
          yield* Effect.logError("unhandled error in request").pipe(
            Effect.annotateLogs({ requestId, route: path, errors: describeCause(cause) }),
          )
          return renderError(view(), defect(requestId))
        }),
      ),
    )

const unavailable = new PageError({
  status: 503,
  title: "The database didn't respond",
  messages: ["It is unavailable, or the query took too long. Try again in a minute."],
  retryAfterSeconds: 60,
})

const defect = (requestId: string): PageError =>
  PageError.of(500, "Internal error", `The console failed unexpectedly. Search its log for ${requestId}.`)
