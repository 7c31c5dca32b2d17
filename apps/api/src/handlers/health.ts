import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { Clock, Effect } from "effect"
import manifest from "../../package.json" with { type: "json" }
import type { Handler } from "../http/Handlers.ts"

/** Says that the process is reachable; asks no database. */
export const getHealth: Handler<"getHealth"> = () =>
  Effect.map(Clock.currentTimeMillis, (now) => ({
    status: 200,
    headers: {},
    body: { status: "ok", version: manifest.version, timestamp: fromUnixMillis(now) },
  }))
