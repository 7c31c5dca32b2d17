import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { DatabaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import type { DatabaseFault } from "@outreach/postgres-connection/describeDatabaseError"
import { RELEASE } from "@outreach/process/release"
import { Clock, Effect, Ref } from "effect"
import { HttpServerResponse } from "effect/http"
import type { Handler } from "../http/Handlers.ts"

/** Reports that the process is reachable, without using the database. */
export const getHealth: Handler<"getHealth"> = () =>
  Effect.map(Clock.currentTimeMillis, (now) => ({
    status: 200,
    headers: {},
    body: { status: "ok", version: RELEASE, timestamp: fromUnixMillis(now) },
  }))

/** Returns the reason why the process can't serve: it is stopping, or its database is faulty. Undefined if it can. */
export const unreadiness = (stopping: Ref.Ref<boolean>) =>
  Effect.flatMap(Ref.get(stopping), (isStopping) =>
    isStopping ? Effect.succeed(STOPPING) : DatabaseMonitor.use(({ unusable }) => unusable),
  )

const STOPPING: DatabaseFault = { code: "STOPPING", advice: "the process is stopping" }

/** Returns 200 if the process can serve, otherwise 503 and the reason. */
export const readyz = (unreadiness: Effect.Effect<DatabaseFault | undefined>) =>
  Effect.map(unreadiness, (fault) =>
    HttpServerResponse.jsonUnsafe(
      fault === undefined ? { status: "ready" } : { status: "unavailable", code: fault.code, reason: fault.advice },
      { status: fault === undefined ? 200 : 503, headers: { "Cache-Control": "no-store" } },
    ),
  )

/** Reports that the process responds, regardless of its database. */
export const livez = Effect.succeed(
  HttpServerResponse.jsonUnsafe({ status: "alive" }, { headers: { "Cache-Control": "no-store" } }),
)
