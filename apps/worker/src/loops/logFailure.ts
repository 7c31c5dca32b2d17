import { randomUUID } from "node:crypto"
import { describeCause } from "@outreach/process/describeCause"
import { type Cause, Effect } from "effect"

/** Logs what went wrong, with an id to speak of it by. */
export const logFailure = (what: string, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.logError(what).pipe(Effect.annotateLogs({ errorId: randomUUID(), errors: describeCause(cause) }))
