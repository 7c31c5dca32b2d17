import { readMonotonicMs } from "@outreach/domain/monotonicMs"
import { DatabaseRoute } from "@outreach/postgres-connection/DatabaseRoute"
import {
  adviceOn,
  type DatabaseFault,
  describeDatabaseError,
  isOutage,
} from "@outreach/postgres-connection/describeDatabaseError"
import { Signal } from "@outreach/postgres-connection/Signal"
import { Cause, Config, ConfigProvider, Context, Deferred, Duration, Effect, Layer, Metric } from "effect"
import { SqlError } from "effect/sql"
import { DatabaseFailure } from "./DatabaseFailure.ts"
import { isUnusable, makeDatabaseFault, WRONG_KEY } from "./databaseFault.ts"
import { INSUFFICIENT_PRIVILEGE } from "./describeFault.ts"
import type { RoleKind } from "./roles/grants.ts"

const CHECK_EVERY_MS = 5000
/** The interval between checks of the rights, which take longer, unless a statement failed for lack of one. */
const CHECK_RIGHTS_EVERY_MS = 60_000
/** The interval between checks while the database is unusable, or until a stored secret was readable. */
const CHECK_FAULT_EVERY_MS = 1000
/** With the pause between checks, a fault is logged within ten seconds. */
const CHECK_TIME_LIMIT = Duration.seconds(4)
const LOG_EVERY_MS = 60_000

export const monitorMetrics = {
  up: Metric.gauge("outreach_database_up", {
    description: "1 if the last check found that the database can serve this release.",
  }),
  checkSeconds: Metric.gauge("outreach_database_check_seconds", {
    description: "Duration of the last database check, including the wait for a connection.",
  }),
}

/**
 * Checks the database every five seconds, when connections start or stop failing, and each second while it is unusable.
 * Logs a fault when it starts, each minute, and when it ends.
 *
 * Loops that fail because of the database don't log their failures while a monitor runs.
 */
export const DatabaseMonitor = Context.Reference<{
  /** The fault that the last check found; undefined if there was none. */
  readonly fault: Effect.Effect<DatabaseFault | undefined>
  /** The current fault if it makes statements fail. After a promotion or a restore only the workers wait for an operator. */
  readonly unusable: Effect.Effect<DatabaseFault | undefined>
  /** Raised when the database is usable again, so that loops retry at once. */
  readonly recoveries: Signal
  /** Waits until the stored secrets are readable. Fails if SECRETS_KEY doesn't decrypt them. */
  readonly secretsRead: Effect.Effect<void, Config.ConfigError>
  /** Reports whether the monitor logs the fault behind a cause. If not, the caller logs it. */
  covers(cause: Cause.Cause<unknown>): Effect.Effect<boolean>
}>("postgres/DatabaseMonitor", {
  defaultValue: () => ({
    fault: Effect.undefined,
    unusable: Effect.undefined,
    recoveries: new Signal(),
    secretsRead: Effect.void,
    covers: () => Effect.succeed(false),
  }),
})

/** Monitors the database until its scope closes. Fails if the first check finds that SECRETS_KEY doesn't decrypt the stored secrets. */
export const databaseMonitor = (kind: Exclude<RoleKind, "reader">) =>
  Layer.effect(
    DatabaseMonitor,
    Effect.gen(function* () {
      const { changes } = yield* DatabaseRoute
      const recoveries = new Signal()
      const secretsRead = yield* Deferred.make<void, Config.ConfigError>()
      let areSecretsRead = false
      const check = yield* makeDatabaseFault(CHECK_TIME_LIMIT, {
        kind,
        onSecretsRead: () => {
          areSecretsRead = true
        },
      })
      let fault: DatabaseFault | undefined
      let rejected: { readonly code: string; count: number } | undefined

      let rightsCheckedAt = Number.NEGATIVE_INFINITY

      const observe = Effect.fnUntraced(function* (code?: string) {
        const at = yield* readMonotonicMs
        const checksRights =
          isUnusable(fault) || code === INSUFFICIENT_PRIVILEGE || at - rightsCheckedAt >= CHECK_RIGHTS_EVERY_MS
        if (checksRights) rightsCheckedAt = at
        const [took, found] = yield* Effect.timed(check(checksRights))
        const isRecovery = isUnusable(fault) && !isUnusable(found)
        fault = found
        if (isRecovery) recoveries.raise()
        yield* Metric.update(monitorMetrics.up, isUnusable(found) ? 0 : 1)
        yield* Metric.update(monitorMetrics.checkSeconds, Duration.toSeconds(took))
        // After `fault` is known, because processes that wait for this look at it.
        if (found === WRONG_KEY) yield* Deferred.fail(secretsRead, wrongKey)
        else if (areSecretsRead) yield* Deferred.succeed(secretsRead, undefined)
      })
      const logFault = logPerMinute("database unusable")
      const logRejected = logPerMinute("database rejects connections")
      const report = Effect.gen(function* () {
        if (isUnusable(fault)) {
          yield* logFault.log(fault)
          return
        }
        if (logFault.reset()) yield* Effect.logInfo("database usable again")
        if (rejected === undefined) return
        const { code, count } = rejected
        if (yield* logRejected.log({ code, advice: adviceOn(code), count })) rejected = undefined
      })

      let changesSeen = changes.count
      yield* observe()
      if (fault === WRONG_KEY) return yield* Effect.fail(wrongKey)
      yield* Effect.forkScoped(
        Effect.gen(function* () {
          while (true) {
            yield* report
            const isWell = !isUnusable(fault) && (yield* Deferred.isDone(secretsRead))
            yield* Effect.raceFirst(
              Effect.sleep(isWell ? CHECK_EVERY_MS : CHECK_FAULT_EVERY_MS),
              changes.after(changesSeen),
            )
            changesSeen = changes.count
            yield* observe()
          }
        }),
      )

      return {
        fault: Effect.sync(() => fault),
        unusable: Effect.sync(() => (isUnusable(fault) ? fault : undefined)),
        recoveries,
        secretsRead: Deferred.await(secretsRead),
        covers: Effect.fnUntraced(function* (cause) {
          const code = codeOf(cause)
          if (code === undefined) return false
          if (!isUnusable(fault)) yield* observe(code)
          if (isUnusable(fault)) return true
          if (!isOutage(code)) return false
          rejected = { code, count: (rejected?.count ?? 0) + 1 }
          return true
        }),
      }
    }),
  )

const wrongKey = new Config.ConfigError(new ConfigProvider.SourceError({ message: `${WRONG_KEY.advice}.` }))

/** Creates a log of one message, which is logged at most once a minute. */
const logPerMinute = (message: string) => {
  let loggedAt: number | undefined
  return {
    /** Returns whether the message was logged. */
    log: Effect.fnUntraced(function* (annotations: DatabaseFault & { readonly count?: number }) {
      const now = yield* readMonotonicMs
      if (loggedAt !== undefined && now - loggedAt < LOG_EVERY_MS) return false
      loggedAt = now
      yield* Effect.logError(message).pipe(Effect.annotateLogs({ ...annotations }))
      return true
    }),
    /** Returns whether the message was logged since the last reset. */
    reset: () => {
      const wasLogged = loggedAt !== undefined
      loggedAt = undefined
      return wasLogged
    },
  }
}

/** Returns the code of a cause if it contains only database failures. */
const codeOf = (cause: Cause.Cause<unknown>): string | undefined => {
  let code: string | undefined
  for (const reason of cause.reasons) {
    if (Cause.isInterruptReason(reason)) continue
    const error = Cause.isFailReason(reason) ? reason.error : reason.defect
    if (error instanceof DatabaseFailure) code ??= error.reason
    else if (SqlError.isSqlError(error)) code ??= describeDatabaseError(error).code
    // A time limit of the caller isn't a connection failure.
    else if (Cause.isTimeoutError(error)) code ??= describeDatabaseError(undefined).code
    else return undefined
  }
  return code
}
