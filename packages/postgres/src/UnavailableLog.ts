import { Context, Effect, Layer } from "effect"
import type { DatabaseFailure } from "./DatabaseFailure.ts"

const LOG_EVERY = "1 second"

/** Logs requests that fail because of the database (mostly 503 responses): one line a second, with counts by operation and reason. */
export class UnavailableLog extends Context.Service<UnavailableLog>()("postgres/UnavailableLog", {
  make: Effect.gen(function* () {
    const scope = yield* Effect.scope
    let failures: Record<string, number> | undefined

    return {
      /** Counts a request. The log line contains the id of the first one. */
      count: Effect.fnUntraced(function* (
        { operation, reason }: Pick<DatabaseFailure, "operation" | "reason">,
        requestId?: string,
      ) {
        const name = `${operation}: ${reason}`
        if (failures !== undefined) {
          failures[name] = (failures[name] ?? 0) + 1
          return
        }
        const counted: Record<string, number> = { [name]: 1 }
        failures = counted
        const log = Effect.suspend(() => {
          failures = undefined
          const count = Object.values(counted).reduce((sum, each) => sum + each)
          return Effect.logError("requests failed because of the database").pipe(
            Effect.annotateLogs({ count, failures: counted, ...(requestId !== undefined && { requestId }) }),
          )
        })
        yield* Effect.forkIn(Effect.ensuring(Effect.sleep(LOG_EVERY), log), scope)
      }),
    }
  }),
}) {
  static readonly layer = Layer.effect(UnavailableLog, UnavailableLog.make)
}
