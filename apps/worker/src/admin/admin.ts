import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { makeDatabaseFault } from "@outreach/postgres/databaseFault"
import { Clock, Effect, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { retryForever } from "../loops/retryForever.ts"
import { workerLimits } from "../workerLimits.ts"
import { metrics } from "./metrics.ts"

/** Where operators ask, and how old the last successful claim of a ready worker may be. */
export interface AdminOptions {
  readonly host: string
  readonly port: number
  readonly readyWithinSeconds: number
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly type?: string
}

/**
 * Returns `/metrics`, `/readyz` and `/livez` from what the process knows, until interrupted.
 *
 * When the port is taken it is asked for again and again: the worker before may still be finishing, and deliveries matter more.
 */
export const admin = (options: AdminOptions) => {
  let databaseFault: string | undefined
  const checkDatabase = Effect.flatMap(makeDatabaseFault, (check) =>
    Effect.forever(
      Effect.andThen(
        Effect.map(check, (fault) => {
          databaseFault = fault
        }),
        Effect.sleep(workerLimits.admin.checkEveryMs),
      ),
    ),
  )
  const routes: Readonly<Record<string, Effect.Effect<Answer>>> = {
    "/metrics": Effect.map(PrometheusMetrics.format(), (text) => ({
      status: 200,
      text,
      type: "text/plain; version=0.0.4; charset=utf-8",
    })),
    "/readyz": Effect.map(claimsFault(options.readyWithinSeconds), (claims) => {
      const fault = claims ?? databaseFault
      return fault === undefined ? { status: 200, text: "ready\n" } : { status: 503, text: `not ready: ${fault}\n` }
    }),
    "/livez": Effect.succeed({ status: 200, text: "alive\n" }),
  }
  const serve = Effect.gen(function* () {
    const runSync = Effect.runSyncWith(yield* Effect.context<never>())
    const server = createServer(workerLimits.admin.server, (request, response) => {
      const path = request.url?.split("?")[0] ?? ""
      const route: Effect.Effect<Answer> =
        request.method === "GET" && Object.hasOwn(routes, path) ? routes[path]! : NOT_FOUND
      const { status, text, type = "text/plain; charset=utf-8" } = runSync(route)
      response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" }).end(text)
    })
    yield* Effect.acquireRelease(
      Effect.tryPromise(() => once(server.listen(options.port, options.host), "listening")),
      () =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        }),
    )
    const { port } = server.address() as AddressInfo
    yield* Effect.logInfo("admin port open").pipe(Effect.annotateLogs({ host: options.host, port }))
    return yield* Effect.never
  }).pipe(Effect.scoped)
  return Effect.all([retryForever("admin port", serve), retryForever("readiness", checkDatabase)], {
    concurrency: "unbounded",
    discard: true,
  })
}

const NOT_FOUND = Effect.succeed({ status: 404, text: "not found\n" })

/** What is wrong with the claims; undefined when nothing is. */
const claimsFault = Effect.fnUntraced(function* (withinSeconds: number) {
  // A paused worker claims nothing; the check of the database tells why.
  if ((yield* Metric.value(metrics.paused)).value === 1) return undefined
  const now = (yield* Clock.currentTimeMillis) / 1000
  const succeeded = (yield* Metric.value(metrics.lastClaim.succeeded)).value
  const failed = (yield* Metric.value(metrics.lastClaim.failed)).value
  const since =
    succeeded === 0 ? "no claim has succeeded yet" : `no claim has succeeded for ${Math.round(now - succeeded)} s`
  if (failed > succeeded) return `claims fail; ${since}`
  if (succeeded === 0 || now - succeeded > withinSeconds) return since
  return undefined
})
