import type { ConnectionLimit } from "@outreach/process/connectionLimit"
import { drainableServer } from "@outreach/process/drainableServer"
import { listen } from "@outreach/process/listen"
import { requestTracer } from "@outreach/process/requestTracer"
import { Effect } from "effect"
import { FindMyWay, HttpMiddleware, HttpPlatform, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ConsoleConfig, MAX_CONNECTIONS } from "../ConsoleConfig.ts"
import { signInRoutes } from "../signIn/signInPages.tsx"
import { icon, scripts, style } from "./assets.ts"
import { handle } from "./handle.ts"
import { PageError } from "./PageError.ts"
import { definePage, type Route, type ServicesOf } from "./Route.ts"
import { rejectAmbiguousRequests } from "./rejectAmbiguousRequests.ts"
import { renderError } from "./renderPage.tsx"

const LIMITS = {
  headersTimeout: 10_000,
  /** Time for a file of 50 MiB at 1.5 Mbit/s. */
  requestTimeout: 300_000,
  connectionsCheckingInterval: 5_000,
  /** Bytes of the request line and headers. */
  maxHeaderSize: 16_384,
} as const

/** Time for requests in flight after the process stops. */
const DRAIN_MS = 10_000

const nothing = definePage("/*", { run: () => Effect.fail(PageError.notFound()) })

type RouteServices<R> = Exclude<
  Effect.Services<ReturnType<typeof handle<R>> | (typeof signInRoutes)[number]["answer"]>,
  HttpServerRequest.HttpServerRequest | HttpRouter.RouteContext
>

/** Headers of every response. A framed document has its own `Content-Security-Policy`. */
const securityHeaders = (isTls: boolean): Readonly<Record<string, string>> => ({
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  // Without a referrer, browsers would send `Origin: null` with the console's own forms.
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
  ...(isTls && { "strict-transport-security": "max-age=31536000" }),
})

/** Creates the application: every route with the same steps, and the files of the pages. */
export const application = Effect.fnUntraced(function* <T extends Route<unknown>>(
  routes: ReadonlyArray<T>,
  connections: ConnectionLimit,
) {
  const { consoleUrl, proxyHeader } = yield* ConsoleConfig
  const platform = yield* HttpPlatform.HttpPlatform
  const context = yield* Effect.context<RouteServices<ServicesOf<T>>>()
  const router = yield* HttpRouter.make
  const pages = FindMyWay.make<Route<ServicesOf<T>>>()
  for (const route of routes as ReadonlyArray<Route<ServicesOf<T>>>) {
    if (route.kind === "page") pages.on("GET", route.path, route)
  }
  const traced = yield* requestTracer
  const route = <E, R>(
    method: (typeof METHODS)[number],
    path: HttpRouter.PathInput,
    answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  ) =>
    HttpRouter.route(
      method,
      path,
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => traced(request, () => path, answer)),
    )
  const served = [
    ...[style, icon, ...scripts].map(({ path, response }) => HttpRouter.route("GET", path, response)),
    ...signInRoutes.map(({ method, path, answer }) => route(method, path, Effect.provideContext(answer, context))),
    ...[...routes, nothing].map((each) =>
      route(
        each.kind === "action" ? "POST" : "GET",
        each.path,
        Effect.provideContext(handle<ServicesOf<T>>(each as Route<ServicesOf<T>>, pages), context),
      ),
    ),
  ]
  yield* router.addAll([...served, ...otherMethods(served)])
  const rejection = rejectAmbiguousRequests({ consoleUrl, proxyHeader })
  const headers = securityHeaders(consoleUrl.startsWith("https:"))
  const answer = router.asHttpEffect()
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const rejected = connections.isExceededBy(request.source) ? tooMany : rejection(request)
    return rejected === undefined ? answer : Effect.succeed(renderError(undefined, rejected))
  }).pipe(
    Effect.catch(() => Effect.succeed(renderError(undefined, PageError.notFound()))),
    Effect.map((response) => HttpServerResponse.setHeaders(response, { ...headers, ...response.headers })),
    // The quality halves the size in one or two milliseconds.
    HttpMiddleware.compression({ algorithms: ["br", "gzip"], levels: { br: 4 } }),
    Effect.provideService(HttpPlatform.HttpPlatform, platform),
  )
})

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const

const otherMethods = (served: ReadonlyArray<Pick<HttpRouter.Route, "path" | "method">>) =>
  [...new Set(served.map(({ path }) => path))]
    .filter((path) => path !== nothing.path)
    .flatMap((path) => {
      const own = served.filter((route) => route.path === path).map(({ method }) => method)
      const allow = own.flatMap((method) => (method === "GET" ? [method, "HEAD"] : [method])).join(", ")
      const response = HttpServerResponse.setHeader(renderError(undefined, notThisWay(allow)), "allow", allow)
      return METHODS.filter((method) => !own.includes(method)).map((method) => HttpRouter.route(method, path, response))
    })

const tooMany = PageError.of(
  429,
  "Too many requests",
  "Your IP address has too many open requests. Close some console pages and try again.",
)

const notThisWay = (allow: string): PageError =>
  PageError.of(405, "Method not allowed", `This address only accepts ${allow}. Go back to the page and use its form.`)

export const consoleServer = Effect.fnUntraced(function* (connections: ConnectionLimit) {
  const { host, port } = yield* ConsoleConfig
  const { server } = drainableServer(LIMITS, DRAIN_MS)
  server.maxConnections = MAX_CONNECTIONS
  connections.watch(server)
  return yield* listen(server, { host, port, hostSetting: "HOST", portSetting: "PORT" })
})
