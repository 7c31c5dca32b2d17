import type { AddressInfo } from "node:net"
import { Effect, Schedule } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { connectionLimit } from "./connectionLimit.ts"
import { describeCause } from "./describeCause.ts"
import { drainableServer } from "./drainableServer.ts"
import { listen } from "./listen.ts"
import { measureProcess } from "./processMetrics.ts"

/** Requests are few and small. */
const LIMITS = { headersTimeout: 5000, requestTimeout: 5000, connectionsCheckingInterval: 2000, maxHeaderSize: 8192 }
const MAX_CONNECTIONS = 256
const MAX_PER_ADDRESS = MAX_CONNECTIONS / 4
/** Time for requests in flight to finish when the process stops. */
const DRAIN_MS = 2000
/** Waits while the port is in use, doubling up to the maximum. */
const RETRY = Schedule.min([Schedule.exponential("500 millis"), Schedule.spaced("30 seconds")])

/** The response of a custom path, given the request's query. */
type AdminPage = (query: URLSearchParams) => Effect.Effect<Response>

interface Response {
  readonly status: number
  readonly text: string
  readonly type?: string
}

/**
 * Serves `/metrics`, `/readyz` and `/livez` to operators, and the process's custom pages, until interrupted.
 *
 * If the port is in use, logs this and retries: the previous process may still be stopping.
 */
export const adminServer = Effect.fnUntraced(function* (options: {
  readonly host: string
  readonly port: number
  /** Returns the reason why the process isn't ready; undefined if it is. */
  readonly unreadiness: Effect.Effect<string | undefined>
  readonly pages?: Readonly<Record<string, AdminPage>>
}): Effect.fn.Return<never> {
  const processMetrics = yield* measureProcess
  const routes: Readonly<Record<string, AdminPage>> = {
    "/metrics": () =>
      Effect.map(Effect.all([PrometheusMetrics.format(), processMetrics]), (texts) => ({
        status: 200,
        text: texts.join(""),
        type: "text/plain; version=0.0.4; charset=utf-8",
      })),
    "/readyz": () =>
      Effect.map(options.unreadiness, (reason) =>
        reason === undefined ? { status: 200, text: "ready\n" } : { status: 503, text: `not ready: ${reason}\n` },
      ),
    "/livez": () => Effect.succeed({ status: 200, text: "alive\n" }),
    ...options.pages,
  }
  const serve = Effect.gen(function* () {
    const run = Effect.runForkWith(yield* Effect.context<never>())
    const { server } = drainableServer(LIMITS, DRAIN_MS)
    server.maxConnections = MAX_CONNECTIONS
    connectionLimit(MAX_PER_ADDRESS).watch(server)
    server.on("request", (request, response) => {
      const [path = "", query] = request.url?.split("?") ?? []
      const page = request.method === "GET" && Object.hasOwn(routes, path) ? routes[path]! : () => NOT_FOUND
      run(
        Effect.map(page(new URLSearchParams(query)), ({ status, text, type = "text/plain; charset=utf-8" }) => {
          response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" }).end(text)
        }),
      )
    })
    yield* listen(server, { ...options, hostSetting: "ADMIN_HOST", portSetting: "ADMIN_PORT" })
    const { port } = server.address() as AddressInfo
    yield* Effect.logInfo("admin port open").pipe(Effect.annotateLogs({ host: options.host, port }))
    return yield* Effect.never
  })
  return yield* serve.pipe(
    Effect.scoped,
    Effect.tapCause((cause) =>
      Effect.logError("admin port failed").pipe(Effect.annotateLogs({ errors: describeCause(cause) })),
    ),
    Effect.retry(RETRY),
    Effect.orDie,
  )
})

const NOT_FOUND: Effect.Effect<Response> = Effect.succeed({ status: 404, text: "not found\n" })
