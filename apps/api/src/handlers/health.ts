import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { RELEASE } from "@outreach/process/release"
import { Clock, Effect } from "effect"
import type { Handler } from "../http/Handlers.ts"

/** Reports that the process is reachable, without the database. */
export const getHealth: Handler<"getHealth"> = () =>
  Effect.map(Clock.currentTimeMillis, (now) => ({
    status: 200,
    headers: {},
    body: { status: "ok", version: RELEASE, timestamp: fromUnixMillis(now) },
  }))
