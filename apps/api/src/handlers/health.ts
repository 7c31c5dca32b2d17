import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { makeDatabaseFault } from "@outreach/postgres/databaseFault"
import type { DatabaseFault } from "@outreach/postgres/describeDatabaseError"
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

/** Creates the check of why the process cannot serve: it is stopping, or something is wrong with its database. Undefined if it can. */
export const makeUnreadiness = (stopping: Ref.Ref<boolean>) =>
  Effect.map(makeDatabaseFault("2 seconds"), (databaseFault) =>
    Effect.flatMap(Ref.get(stopping), (isStopping) => (isStopping ? Effect.succeed(STOPPING) : databaseFault)),
  )

const STOPPING: DatabaseFault = { code: "STOPPING", advice: "the process is stopping" }

/** Reports whether the process can serve: 200, or 503 and the reason. */
export const readyz = (unreadiness: Effect.Effect<DatabaseFault | undefined>) =>
  Effect.map(unreadiness, (fault) =>
    HttpServerResponse.jsonUnsafe(
      fault === undefined ? { status: "ready" } : { status: "unavailable", code: fault.code, reason: fault.advice },
      { status: fault === undefined ? 200 : 503, headers: { "Cache-Control": "no-store" } },
    ),
  )

/** Reports that the process responds, whatever is wrong with its database. */
export const livez = Effect.succeed(
  HttpServerResponse.jsonUnsafe({ status: "alive" }, { headers: { "Cache-Control": "no-store" } }),
)
