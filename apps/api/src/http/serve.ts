import type { IncomingMessage } from "node:http"
import { type Operation, type OperationId, operations } from "@outreach/contract"
import { definePartnerCatalog } from "@outreach/contract/catalogs"
import { createIdentifier, type EndpointId } from "@outreach/domain/Identifier"
import type { StoredResponse } from "@outreach/domain/idempotency/executeOnce"
import { UnavailableLog } from "@outreach/postgres/UnavailableLog"
import type { ConnectionLimit } from "@outreach/process/connectionLimit"
import { requestTracer } from "@outreach/process/requestTracer"
import { rateLimitHeaders } from "@outreach/rate-limit"
import { Clock, Effect, Exit, Struct } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ApiConfig } from "../ApiConfig.ts"
import { requestCounters } from "./apiMetrics.ts"
import { type AuthenticatedRequest, createKeyAuthenticator } from "./authenticateKey.ts"
import { decode, decodeBody } from "./decode.ts"
import { encode, respond } from "./encode.ts"
import { createExecuteOnce } from "./executeOnce.ts"
import type { AnyHandler, Handlers } from "./Handlers.ts"
import { RequestError } from "./RequestError.ts"
import { createReadBody } from "./readBody.ts"
import { acceptsJson, allowed, checkHeaders, splitUrl } from "./requestHead.ts"
import { routeTable } from "./routeTable.ts"
import { errorOf, type ResponseContext, toErrorResponse } from "./toErrorResponse.ts"
import { createSignatureVerifier } from "./verifySignature.ts"
import { withinLimit } from "./withinLimit.ts"

/** Total time that a request may wait for the database, in milliseconds. With the other steps, it is answered within ten seconds. */
const DATABASE_LIMIT_MS = 9000

type HttpRequest = HttpServerRequest.HttpServerRequest
type HttpResponse = HttpServerResponse.HttpServerResponse

/** A response outside the contract, such as a probe or a guide. Of the common steps, it only has a request id. */
export type Page<Services> = Effect.Effect<HttpResponse, never, Services | HttpRequest>

/** A page with method and path; a trailing `*` matches any rest. */
export type PageRow<Services> = readonly [method: "GET" | "POST", path: `/${string}`, page: Page<Services>]

/** Drafts have no handler. */
type OperationTarget = { readonly operation: Operation; readonly handler: AnyHandler | undefined }
type Target<Services> = OperationTarget | { readonly page: Page<Services>; readonly path: string }
/** Parameters of a request: in braces in the path of its operation, and its query. */
type RequestParameters = { readonly parameters: Readonly<Record<string, string | undefined>>; readonly search: string }

/** Data about a request, collected for its response. */
type RequestState = { -readonly [Key in keyof ResponseContext]: ResponseContext[Key] } & {
  isPage: boolean
  /** Time spent waiting for the database, in milliseconds. */
  waitedMs: number
}

/**
 * Creates the application: every row of the contract with its handler, behind the same steps in the same order.
 *
 * Request id; path and method; connections per client; bearer and rate window; scope; parameters; endpoint; body; signature; `Idempotency-Key`; handler; encoding.
 */
export const serve = Effect.fnUntraced(function* <Services>(
  handlers: Handlers,
  connections: ConnectionLimit,
  pages: ReadonlyArray<PageRow<Services>>,
  /** Returns the response if this path isn't served at the host. */
  notServedAt: (host: string | undefined, path: string) => HttpResponse | undefined,
) {
  const catalog = definePartnerCatalog((yield* ApiConfig).docsUrl)
  const authenticateKey = yield* createKeyAuthenticator
  const { checkEndpoint, verifySignature } = yield* createSignatureVerifier
  const readBody = createReadBody()
  const executeOnce = yield* createExecuteOnce
  const counters = requestCounters(yield* Effect.context<never>())
  const unavailable = yield* UnavailableLog
  const traced = yield* requestTracer

  /** Runs a step that may wait for the database. After the limit it returns 503; the step may still take effect. */
  const limited = Effect.fnUntraced(function* <A, R>(
    state: RequestState,
    part: Effect.Effect<A, RequestError, R>,
  ): Effect.fn.Return<A, RequestError, R> {
    // A step that is already done, such as a look-up in memory, needs no fiber and no timer.
    if (Exit.isExit(part)) return yield* part
    const startedAt = performance.now()
    const exit = yield* withinLimit(part, DATABASE_LIMIT_MS - state.waitedMs)
    state.waitedMs += performance.now() - startedAt
    if (exit !== undefined) return yield* exit
    yield* unavailable.count({ operation: state.operation ?? "page", reason: "TIME_LIMIT" }, state.requestId)
    return yield* Effect.fail(RequestError.Unavailable)
  })

  const handlerOf: Partial<Record<OperationId, AnyHandler>> = handlers
  const find = routeTable<Target<Services>>([
    ...Struct.keys(operations).map((id) => {
      const operation = operations[id]
      return [operation.method, operation.path, { operation, handler: handlerOf[id] }] as const
    }),
    ...pages.map(([method, path, page]) => [method, path, { page, path }] as const),
  ])

  /** Finds the operation or page of a request; answers `OPTIONS` immediately. */
  const route = (request: HttpRequest, state: RequestState) => {
    const { method, url } = request
    const ambiguous = checkHeaders(request.source as IncomingMessage)
    if (ambiguous !== undefined) return Effect.fail(ambiguous)
    const notServed = notServedAt(request.headers["host"], url)
    if (notServed !== undefined) {
      state.isPage = true
      return Effect.succeed(notServed)
    }
    if (method === "OPTIONS" && url === "*") return Effect.succeed(allowed("GET, HEAD, POST, OPTIONS"))
    const [path, search] = splitUrl(url)
    const found = find(method, path)
    if (found === undefined) return Effect.fail(RequestError.NotFound)
    if ("allow" in found) {
      if (method === "OPTIONS") return Effect.succeed(allowed(found.allow))
      if ("operation" in found.otherTarget) state.envelope = found.otherTarget.operation.envelope
      return Effect.fail(RequestError.MethodNotAllowed(found.allow))
    }
    const { target, parameters } = found
    if ("page" in target) state.isPage = true
    else {
      state.operation = target.operation.operationId as OperationId
      state.envelope = target.operation.envelope
    }
    if (connections.isExceededBy(request.source)) return Effect.fail(RequestError.Unavailable)
    return Effect.succeed({ ...target, parameters, search })
  }

  /** Authenticates and counts the caller if the operation requires a key, and checks the key's scope. */
  const authenticate = Effect.fnUntraced(function* (request: HttpRequest, { auth }: Operation, state: RequestState) {
    if (auth.kind !== "bearer" && auth.kind !== "scope") return undefined
    const authenticated = yield* limited(state, authenticateKey(request))
    const { caller, window } = authenticated
    state.window = window
    if (auth.kind === "scope" && !caller.scopes.includes(auth.scope)) {
      return yield* Effect.fail(RequestError.InsufficientScope(auth.scope))
    }
    return authenticated
  })

  /** Reads parameters and body, and verifies the signature if the operation requires one. Also returns the handler. */
  const readInput = Effect.fnUntraced(function* (
    request: HttpRequest,
    { operation, handler, parameters, search }: OperationTarget & RequestParameters,
    state: RequestState,
  ) {
    const { headers, url } = request
    // Requests to a draft aren't validated, although its schemas are published.
    if (handler === undefined) return yield* Effect.fail(RequestError.NotServed(operation.operationId))
    if (!acceptsJson(headers["accept"])) return yield* Effect.fail(RequestError.NotAcceptable)
    const decoded = yield* decode(operation, parameters, search)
    const endpointId = operation.auth.kind === "signature" ? (decoded.path as WebhookPath).endpoint_id : undefined
    if (endpointId !== undefined) {
      yield* limited(state, checkEndpoint(endpointId, request.source as IncomingMessage))
    }
    const rawBody = yield* readBody(operation, request)
    const sender =
      endpointId === undefined
        ? undefined
        : yield* limited(state, verifySignature(endpointId, headers["x-signature"], rawBody))
    const body = yield* decodeBody(operation, rawBody)
    return { handler, rawBody, sender, input: { ...decoded, ...body, headers, url } }
  })

  /** Runs the handler, once per `Idempotency-Key`. */
  const execute = (
    request: HttpRequest,
    { handler, rawBody, sender, input }: Effect.Success<ReturnType<typeof readInput>>,
    authenticated: AuthenticatedRequest | undefined,
    state: RequestState,
  ) => {
    const { headers } = request
    const handled = handler({ ...input, caller: authenticated?.caller ?? sender } as never)
    if (authenticated === undefined) return Effect.map(limited(state, handled), encode)
    const { caller, at } = authenticated
    // Clients may use the date as their next `since`, so it is the time before the page was read.
    const dated = Effect.map(handled, (response) => ({
      ...response,
      headers: { ...response.headers, Date: new Date(at).toUTCString() },
    }))
    if (headers["idempotency-key"] !== undefined) {
      const once = executeOnce(request, { caller, body: rawBody, requestId: state.requestId }, dated, (error) =>
        toErrorResponse(error, state, catalog, at / 1000),
      )
      return limited(state, once)
    }
    return Effect.map(limited(state, dated), encode)
  }

  const answer = Effect.fnUntraced(function* (request: HttpRequest, state: RequestState) {
    const found = yield* route(request, state)
    if (!("search" in found)) return found
    if ("page" in found) return yield* limited(state, found.page)
    const authenticated = yield* authenticate(request, found.operation, state)
    const read = yield* readInput(request, found, state)
    const executed: StoredResponse = yield* execute(request, read, authenticated, state)
    return respond(request, {
      ...executed,
      headers: {
        "X-Request-Id": state.requestId,
        ...executed.headers,
        ...(state.window && rateLimitHeaders(state.window, "x")),
      },
    })
  })

  /** Returns the route of a request, with parameters in braces. */
  const pathOf = ({ method, url }: HttpRequest): string | undefined => {
    const found = find(method, splitUrl(url)[0])
    if (found === undefined) return undefined
    const target = "target" in found ? found.target : found.otherTarget
    return "page" in target ? target.path : target.operation.path
  }

  const respondTo = Effect.fnUntraced(function* (request: HttpRequest) {
    const state: RequestState = {
      requestId: yield* createIdentifier("request"),
      operation: undefined,
      envelope: "partner",
      window: undefined,
      isPage: false,
      waitedMs: 0,
    }
    const startedAt = performance.now()
    let refused: RequestError | undefined
    const response = yield* answer(request, state).pipe(
      Effect.catchCause(
        Effect.fnUntraced(function* (cause) {
          refused = yield* errorOf(cause, state, unavailable)
          if (refused.window) state.window = refused.window
          const now = (yield* Clock.currentTimeMillis) / 1000
          return respond(request, encode(toErrorResponse(refused, state, catalog, now)))
        }),
      ),
    )
    const route = state.operation ?? (state.isPage ? "page" : "none")
    counters.count(route, response.status, (performance.now() - startedAt) / 1000, refused)
    return response.headers["x-request-id"] === undefined
      ? HttpServerResponse.setHeader(response, "X-Request-Id", state.requestId)
      : response
  })
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    traced(request, () => pathOf(request), respondTo(request)),
  )
})

type WebhookPath = { readonly endpoint_id: EndpointId }
