import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { makeDatabaseFault } from "@outreach/postgres/databaseFault"
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

/** Reports whether the process can serve: 200 when it is not stopping and nothing is wrong with its database, else 503 and the reason. */
export const readyz = (stopping: Ref.Ref<boolean>) =>
  Effect.map(makeDatabaseFault, (databaseFault) =>
    Effect.gen(function* () {
      const reason = (yield* Ref.get(stopping)) ? "the process is stopping" : yield* databaseFault
      return HttpServerResponse.jsonUnsafe(
        reason === undefined ? { status: "ready" } : { status: "unavailable", reason },
        { status: reason === undefined ? 200 : 503, headers: { "Cache-Control": "no-store" } },
      )
    }),
  )
