import type { OrganizationId } from "@outreach/domain/Identifier"
import type { ReplayPoint } from "@outreach/domain/organizations/ApiKeyRepository"
import { DatabaseFailure } from "@outreach/postgres/DatabaseFailure"
import { readReplayPoint } from "@outreach/postgres/standby/standing"
import { describeDatabaseError, isOutage } from "@outreach/postgres-connection/describeDatabaseError"
import { metricsByLabel } from "@outreach/process/metricsByLabel"
import { Cause, Context, Effect, Exit, Layer, Metric } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import type { HandlerServices, ReadResponse } from "../http/Handlers.ts"
import type { RequestError } from "../http/toErrorResponse.ts"
import { withinLimit } from "../http/withinLimit.ts"
import { Standby } from "./Standby.ts"
import { StandbyMonitor } from "./StandbyMonitor.ts"

/** How long the standby may take for a request, with the wait for a connection; then the primary is asked. */
const TIME_LIMIT = "1 second"

/** The results of asking the standby for a request; with all but the first, the primary is read. */
const RESULTS = ["standby", "not_asked", "behind", "last_page", "not_found", "failed"] as const
type Result = (typeof RESULTS)[number]

const results = metricsByLabel("result", RESULTS, (attributes) =>
  Metric.counter("outreach_standby_reads_total", {
    description:
      "Requests that could be read from the standby, by result; all but `standby` were read from the primary.",
    incremental: true,
    attributes,
  }),
)

interface ReadRequest {
  readonly organizationId: OrganizationId
  /** What the primary had committed when it recognised the caller. */
  readonly replayPoint: ReplayPoint
  readonly isConditional: boolean
}

/** Reads from the standby what it can; undefined where there is none. */
export class StandbyReads extends Context.Service<
  StandbyReads,
  | {
      /** Executes a request on the standby; on the primary, where the standby cannot give as recent a response. */
      read<Response extends ReadResponse>(
        execute: Effect.Effect<Response, RequestError, HandlerServices>,
        request: ReadRequest,
      ): Effect.Effect<Response, RequestError, HandlerServices>
    }
  | undefined
>()("api/standby/StandbyReads") {
  static readonly none = Layer.succeed(StandbyReads, undefined)

  static readonly layer = Layer.effect(
    StandbyReads,
    Effect.gen(function* () {
      const { sql, ports } = yield* Standby
      const monitor = yield* StandbyMonitor
      yield* Effect.forEach(Object.values(results), Metric.value, { discard: true })

      // The replay point comes first: what is read after it is as recent, or more so.
      const attempt = Effect.fnUntraced(function* <Response extends ReadResponse>(
        execute: Effect.Effect<Response, RequestError, HandlerServices>,
        { organizationId, replayPoint, isConditional }: ReadRequest,
        server: string,
      ) {
        const point = yield* Effect.provideService(readReplayPoint(organizationId), SqlClient.SqlClient, sql)
        if (!point.isStandby || point.server !== server) return "not_asked"
        const isCurrent = point.clock !== null && point.clock >= replayPoint.clock
        const response = yield* Effect.provideContext(execute, ports)
        if (!isCurrent && response.standby !== "any") return "behind"
        if (response.standby === "never") return "last_page"
        // No clock covers campaigns, so what the client holds of one may be newer than what the standby has.
        return isConditional && response.status !== 304 ? "behind" : response
      })

      const resultOf = (cause: Cause.Cause<unknown>): Result => {
        const reason = cause.reasons.find((reason) => !Cause.isInterruptReason(reason))
        if (reason === undefined) return "failed"
        const error = Cause.isFailReason(reason) ? reason.error : reason.defect
        if (Cause.isFailReason(reason) && !SqlError.isSqlError(error)) return "not_found"
        const code = error instanceof DatabaseFailure ? error.reason : describeDatabaseError(error).code
        if (isOutage(code)) monitor.suspend()
        return "failed"
      }

      const tryStandby = Effect.fnUntraced(function* <Response extends ReadResponse>(
        execute: Effect.Effect<Response, RequestError, HandlerServices>,
        request: ReadRequest,
      ) {
        const servers = yield* monitor.servers
        if (servers?.primary !== request.replayPoint.server) return "not_asked"
        const exit = yield* withinLimit(attempt(execute, request, servers.standby), TIME_LIMIT)
        if (exit === undefined) {
          monitor.suspend()
          return "failed"
        }
        return Exit.isSuccess(exit) ? exit.value : resultOf(exit.cause)
      })

      return {
        read: Effect.fnUntraced(function* (execute, request) {
          const outcome = yield* tryStandby(execute, request)
          const isResponse = typeof outcome === "object"
          yield* Metric.update(results[isResponse ? "standby" : outcome], 1)
          return isResponse ? outcome : yield* execute
        }),
      }
    }),
  )
}
