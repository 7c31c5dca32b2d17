import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Duration, Effect } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { ConsoleConfig } from "../ConsoleConfig.ts"
import { Assets } from "./assets.ts"
import { handle } from "./handle.ts"
import { PageError } from "./PageError.ts"
import { PageRenderer } from "./PageRenderer.tsx"
import { definePage, type Route, type ServicesOf } from "./Route.ts"
import { securityHeaders } from "./securityHeaders.ts"

const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 5_000,
  /** Of the request line and the headers together. */
  maxHeaderSize: 16_384,
} as const

/** More connections at once than operators have. */
const MAX_CONNECTIONS = 1000

/** How long requests in flight may take to finish once the process is told to stop. */
const DRAIN = Duration.seconds(10)

/** What an address of nothing answers to whoever is signed in. */
const nothing = definePage({
  path: "/*",
  section: "today",
  role: "viewer",
  params: {},
  query: {},
  read: () => Effect.fail(PageError.notFound()),
})

/** What the routes need, beside the request. */
type RouteServices<R> = Exclude<
  Effect.Services<ReturnType<typeof handle<R>>>,
  HttpServerRequest.HttpServerRequest | HttpRouter.RouteContext
>

/** Creates the application: every route behind the same steps, and the files of the pages. */
export const application = Effect.fnUntraced(function* <T extends Route<unknown>>(
  routes: ReadonlyArray<T>,
  publicRoutes: ReadonlyArray<HttpRouter.Route<never, never>>,
) {
  const { consoleUrl } = yield* ConsoleConfig
  const { style, icon, scripts } = yield* Assets
  const renderer = yield* PageRenderer
  const context = yield* Effect.context<RouteServices<ServicesOf<T>>>()
  const router = yield* HttpRouter.make
  yield* router.addAll([
    ...[style, icon, ...scripts].map(({ path, response }) => HttpRouter.route("GET", path, response)),
    ...publicRoutes,
    ...[...routes, nothing].map((route) =>
      HttpRouter.route(
        route.kind === "action" ? "POST" : "GET",
        route.path,
        Effect.provideContext(handle<ServicesOf<T>>(route as Route<ServicesOf<T>>), context),
      ),
    ),
  ])
  const headers = securityHeaders(consoleUrl.startsWith("https:"))
  return router.asHttpEffect().pipe(
    Effect.catch(() => Effect.succeed(renderer.error(undefined, PageError.notFound()))),
    Effect.map((response) => HttpServerResponse.setHeaders(response, { ...headers, ...response.headers })),
  )
})

/** Listens on `CONSOLE_HOST` and `CONSOLE_PORT`. */
export const consoleServer = Effect.gen(function* () {
  const { host, port } = yield* ConsoleConfig
  const server = createServer(LIMITS)
  server.maxConnections = MAX_CONNECTIONS
  const http = yield* NodeHttpServer.make(() => server, { host, port, gracefulShutdownTimeout: DRAIN })
  yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
  return http
})
