import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { databaseAnswers } from "@outreach/postgres/databaseLayer"
import { RELEASE } from "@outreach/process/release"
import { Clock, Effect, Ref } from "effect"
import { HttpServerResponse } from "effect/http"
import type { Handler } from "../http/Handlers.ts"

/** Reports that the process is reachable, without the database. */
export const getHealth: Handler<"getHealth"> = () =>
  Effect.map(Clock.currentTimeMillis, (now) => ({
    status: 200,
    headers: {},
    body: { status: "ok", version: RELEASE, timestamp: fromUnixMillis(now) },
  }))

/** Reports whether the process can serve: 200 when it is not stopping and its database answers within two seconds, else 503. */
export const readyz = (stopping: Ref.Ref<boolean>) =>
  Effect.gen(function* () {
    const ready = !(yield* Ref.get(stopping)) && (yield* databaseAnswers)
    return HttpServerResponse.jsonUnsafe(
      { status: ready ? "ready" : "unavailable" },
      { status: ready ? 200 : 503, headers: { "Cache-Control": "no-store" } },
    )
  })
