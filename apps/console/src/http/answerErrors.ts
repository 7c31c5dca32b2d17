import { createIdentifier } from "@outreach/domain/Identifier"
import { DatabaseFailure } from "@outreach/postgres/DatabaseFailure"
import { describeCause } from "@outreach/process/describeCause"
import { Cause, Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { View } from "../components/View.ts"
import { PageError } from "./PageError.ts"
import { PageRenderer } from "./PageRenderer.tsx"

/** Answers a failure with a page that says what is wrong. A defect is logged. `view` is of whoever is signed in by then. */
export const answerErrors =
  (path: string, view: () => View | undefined = () => undefined) =>
  <R>(answer: Effect.Effect<HttpServerResponse.HttpServerResponse, PageError, R>) =>
    Effect.flatMap(PageRenderer, (renderer) =>
      answer.pipe(
        Effect.catchTag("PageError", (error) => Effect.succeed(renderer.error(view(), error))),
        Effect.catchCauseIf(
          (cause) => !Cause.hasInterruptsOnly(cause),
          Effect.fnUntraced(function* (cause) {
            const requestId = yield* createIdentifier("request")
            yield* Effect.logError("unhandled error in request").pipe(
              Effect.annotateLogs({ requestId, route: path, errors: describeCause(cause) }),
            )
            return renderer.error(view(), defect(cause, requestId))
          }),
        ),
      ),
    )

const defect = (cause: Cause.Cause<unknown>, requestId: string): PageError => {
  const isTransient = cause.reasons.some(
    (reason) => Cause.isDieReason(reason) && reason.defect instanceof DatabaseFailure && reason.defect.transient,
  )
  return isTransient
    ? new PageError({
        status: 503,
        title: "The database did not answer",
        messages: [
          `It is away, or the question took too long. Try again in a minute. The log has more at ${requestId}.`,
        ],
      })
    : new PageError({
        status: 500,
        title: "Something went wrong",
        messages: [`This is a fault of the console. The log has more at ${requestId}.`],
      })
}
