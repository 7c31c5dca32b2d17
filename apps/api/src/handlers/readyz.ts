import { databaseAnswers } from "@outreach/postgres/databaseLayer"
import { Effect, Ref } from "effect"
import { HttpServerResponse } from "effect/http"

/** Reports whether the process can serve: 200 when it is not stopping and its database answers within two seconds, else 503. */
export const readyz = (stopping: Ref.Ref<boolean>) =>
  Effect.gen(function* () {
    const ready = !(yield* Ref.get(stopping)) && (yield* databaseAnswers)
    return HttpServerResponse.jsonUnsafe(
      { status: ready ? "ready" : "unavailable" },
      { status: ready ? 200 : 503, headers: { "Cache-Control": "no-store" } },
    )
  })
