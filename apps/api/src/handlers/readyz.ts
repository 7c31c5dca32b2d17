import { databaseAnswers } from "@outreach/postgres/databaseAnswers"
import { Effect } from "effect"
import { encode } from "../http/encode.ts"

/** Says whether the process can serve: 200 when its database answers within two seconds, else 503. */
export const readyz = Effect.map(databaseAnswers, (ready) =>
  encode({
    status: ready ? 200 : 503,
    body: { status: ready ? "ready" : "unavailable" },
    headers: { "Cache-Control": "no-store" },
  }),
)
