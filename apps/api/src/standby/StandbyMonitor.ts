import { readPrimary, readStandby } from "@outreach/postgres/standby/standing"
import { createLagMeter } from "@outreach/postgres-connection/createLagMeter"
import { historyFault, STANDBY_FAULTS, type StandbyFault } from "@outreach/postgres-connection/historyFault"
import { metricsByLabel } from "@outreach/process/metricsByLabel"
import { Clock, Context, Duration, Effect, Exit, Layer, Metric } from "effect"
import { SqlClient } from "effect/sql"
import { withinLimit } from "../http/withinLimit.ts"
import { Standby } from "./Standby.ts"

/** How often the standby is compared with the primary, at the most. */
const MAX_CHECK_EVERY_MS = 1000
const CHECK_TIME_LIMIT = "2 seconds"

const FAULTS = Object.keys(STANDBY_FAULTS) as ReadonlyArray<StandbyFault>

const lagSeconds = Metric.gauge("outreach_standby_lag_seconds", {
  description: "How far the standby was behind the primary at the most, as of the last check.",
})
const faultGauges = metricsByLabel("reason", FAULTS, (attributes) =>
  Metric.gauge("outreach_standby_fault", {
    description: "1 while the standby is not read from, by the reason.",
    attributes,
  }),
)

/** The servers that the last check compared, each named with its start. */
interface CheckedServers {
  readonly primary: string
  readonly standby: string
}

/** Compares the standby with the primary, and knows whether it may be read from. */
export class StandbyMonitor extends Context.Service<StandbyMonitor>()("api/standby/StandbyMonitor", {
  make: Effect.fnUntraced(function* (maxLag: Duration.Duration) {
    const primarySql = yield* SqlClient.SqlClient
    const { sql } = yield* Standby
    const maxLagMs = Duration.toMillis(maxLag)
    const meter = createLagMeter()
    let servers: CheckedServers | undefined
    /** Until when the standby is surely not too far behind, even if no further check comes to an end. */
    let validUntil = 0
    let lastFault: StandbyFault | "unchecked" | "measuring" | undefined = "unchecked"

    const read = <A>(statement: Effect.Effect<A, unknown, SqlClient.SqlClient>, client: SqlClient.SqlClient) =>
      withinLimit(Effect.provideService(statement, SqlClient.SqlClient, client), CHECK_TIME_LIMIT).pipe(
        Effect.map((exit) => (exit !== undefined && Exit.isSuccess(exit) ? exit.value : undefined)),
      )
    const compare = Effect.gen(function* (): Effect.fn.Return<StandbyFault | undefined> {
      const at = yield* monotonicMillis
      const primary = yield* read(readPrimary, primarySql)
      if (primary === undefined || primary.position === null) return "unknown_primary"
      meter.add(at, { server: primary.server, position: primary.position })
      const standby = yield* read(readStandby, sql)
      if (standby === undefined) return "unreachable"
      const fault = historyFault(primary, standby)
      if (fault !== undefined) return fault
      const now = yield* monotonicMillis
      const { ms, isKnown } = meter.lagAt(now, standby.position ?? 0)
      yield* Metric.update(lagSeconds, ms / 1000)
      if (!isKnown || ms > maxLagMs) return "lag"
      servers = { primary: primary.server, standby: standby.server }
      validUntil = now - ms + maxLagMs
      return undefined
    })

    const check = Effect.gen(function* () {
      const fault = yield* compare
      if (fault !== undefined) servers = undefined
      // A busy primary has written on since the first measurement, which has none before it to compare.
      if (fault === "lag" && lastFault === "unchecked") {
        lastFault = "measuring"
        return
      }
      for (const reason of FAULTS) yield* Metric.update(faultGauges[reason], reason === fault ? 1 : 0)
      if (fault === lastFault) return
      lastFault = fault
      yield* fault === undefined
        ? Effect.logInfo("reading from the standby")
        : Effect.logWarning("standby not read from, reading from the primary").pipe(
            Effect.annotateLogs({ reason: fault, advice: STANDBY_FAULTS[fault] }),
          )
    })
    yield* check.pipe(
      Effect.andThen(Effect.sleep(Math.min(MAX_CHECK_EVERY_MS, maxLagMs / 4))),
      Effect.forever,
      Effect.forkScoped,
    )

    return {
      /** The servers that belong together; undefined while the standby may not be read from. */
      servers: Effect.map(monotonicMillis, (now) => (now <= validUntil ? servers : undefined)),
      /** Lets nobody read from the standby until a check passes. */
      suspend: () => {
        servers = undefined
      },
    }
  }),
}) {
  static readonly layer = (maxLag: Duration.Duration) => Layer.effect(StandbyMonitor, StandbyMonitor.make(maxLag))
}

const monotonicMillis = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos / 1_000_000n))
