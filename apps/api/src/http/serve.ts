import type { IncomingMessage } from "node:http"
import { type Operation, type OperationId, operations } from "@outreach/contract"
import { createIdentifier, type EndpointId } from "@outreach/domain/Identifier"
import type { StoredResponse } from "@outreach/domain/idempotency/IdempotencyRepository"
import type { Caller } from "@outreach/domain/organizations/ApiKey"
import type { ReplayPoint } from "@outreach/domain/organizations/ApiKeyRepository"
import { transientFailure } from "@outreach/postgres/DatabaseFailure"
import { UnavailableLog } from "@outreach/postgres/UnavailableLog"
import type { ConnectionLimit } from "@outreach/process/connectionLimit"
import { describeCause } from "@outreach/process/describeCause"
import { type RateLimitDecision, rateLimitHeaders } from "@outreach/rate-limit"
import { Cause, Clock, Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import Negotiator from "negotiator"
import { ApiConfig } from "../ApiConfig.ts"
import { StandbyReads } from "../standby/StandbyReads.ts"
import { requestCounters } from "./apiMetrics.ts"
import { createKeyAuthenticator } from "./authenticateKey.ts"
import { CallerActivity, type KnownCaller } from "./CallerActivity.ts"
import { decode, decodeBody } from "./decode.ts"
import { encode, respond } from "./encode.ts"
import { countLines, createExecuteOnce } from "./executeOnce.ts"
import type { Handler, Handlers, ReadResponse } from "./Handlers.ts"
import { errorHeaders, type ResponseContext } from "./ResponseContext.ts"
import { createReadBody } from "./readBody.ts"
import { routeTable } from "./routeTable.ts"
import { RequestError, toErrorResponse } from "./toErrorResponse.ts"
import { createSignatureVerifier, type WebhookSender } from "./verifySignature.ts"
import { withinLimit } from "./withinLimit.ts"

/** How long a request may wait for the database in all, in milliseconds. With what else it takes, it is answered within ten seconds. */
const DATABASE_LIMIT_MS = 9000

/** What answers outside the contract, such as a probe or a guide: it gets a request id and nothing else of the pipeline. */
export type Page<Services> = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  Services | HttpServerRequest.HttpServerRequest
>

/** A page with its method and path; `*` at the end of a path stands for any rest. */
export type PageRow<Services> = readonly [method: "GET" | "POST", path: `/${string}`, page: Page<Services>]

/** What is learned of a request on its way, for its answer. */
type RequestState = { -readonly [Key in keyof ResponseContext]: ResponseContext[Key] } & {
  isPage: boolean
  /** How long it has waited for the database, in milliseconds. */
  waitedMs: number
  /** Undefined while nobody is known. */
  caller: KnownCaller | undefined
  /** The code of the error in the response; empty without one. */
  code: string
}

/**
 * Creates the `application`: every row of the contract with its handler, behind the same steps in the same order, which no row can skip.
 *
 * Request id; path and method; the client's share of connections; bearer and rate window; scope; parameters; endpoint; body; signature; `Idempotency-Key`; handler; encoding.
 */
export const serve = Effect.fnUntraced(function* <Services>(
  handlers: Handlers,
  connections: ConnectionLimit,
  pages: ReadonlyArray<PageRow<Services>>,
) {
  const { docsUrl } = yield* ApiConfig
  const authenticateKey = yield* createKeyAuthenticator
  const { findOwner, verifySignature } = yield* createSignatureVerifier
  const readBody = createReadBody()
  const executeOnce = yield* createExecuteOnce
  const standby = yield* StandbyReads
  const activity = yield* CallerActivity
  const counters = requestCounters(yield* Effect.context<never>())
  const unavailable = yield* UnavailableLog

  /** Runs a part of a request that may wait for the database. What takes too long is answered 503, and may yet take effect. */
  const limited = Effect.fnUntraced(function* <A, R>(
    progress: RequestState,
    part: Effect.Effect<A, RequestError, R>,
  ): Effect.fn.Return<A, RequestError, R> {
    const startedAt = performance.now()
    const exit = yield* withinLimit(part, DATABASE_LIMIT_MS - progress.waitedMs)
    progress.waitedMs += performance.now() - startedAt
    if (exit !== undefined) return yield* exit
    yield* unavailable.count({ operation: progress.operation ?? "page", reason: "TIME_LIMIT" }, progress.requestId)
    return yield* Effect.fail(RequestError.Unavailable())
  })

  type Row = { readonly operation: Operation; readonly handler: AnyHandler }
  type Target = Row | { readonly page: Page<Services> }
  const find = routeTable<Target>([
    ...keysOf(operations).map((id) => {
      const operation = operations[id]
      return [operation.method, operation.path, { operation, handler: handlers[id] as AnyHandler }] as const
    }),
    ...pages.map(([method, path, page]) => [method, path, { page }] as const),
  ])

  const answer = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, progress: RequestState) {
    const { method, url, headers } = request
    const ambiguous = checkHeaders(request.source as IncomingMessage)
    if (ambiguous !== undefined) return yield* Effect.fail(ambiguous)
    if (method === "OPTIONS" && url === "*") return allowed("GET, HEAD, POST, OPTIONS")
    const [path, search] = splitUrl(url)
    const found = find(method, path)
    if (found === undefined) return yield* Effect.fail(RequestError.NotFound())
    if ("allow" in found) {
      if (method === "OPTIONS") return allowed(found.allow)
      if ("operation" in found.otherTarget) progress.envelope = found.otherTarget.operation.envelope
      return yield* Effect.fail(RequestError.MethodNotAllowed({ allow: found.allow }))
    }
    const { target, parameters } = found
    if ("page" in target) progress.isPage = true
    else {
      progress.operation = target.operation.operationId as OperationId
      progress.envelope = target.operation.envelope
    }
    if (connections.isExceededBy(request.source)) return yield* Effect.fail(RequestError.Unavailable())
    if ("page" in target) return yield* limited(progress, target.page)

    const { operation, handler } = target
    const { auth } = operation
    let caller: Caller | WebhookSender | undefined
    let replayPoint: ReplayPoint | undefined
    if (auth.kind === "bearer" || auth.kind === "scope") {
      const authenticated = yield* limited(progress, authenticateKey(request))
      caller = authenticated.caller
      progress.window = authenticated.window
      progress.caller = callerOf(authenticated.caller, authenticated.window)
      if (authenticated.isFrozen) return yield* Effect.fail(RequestError.Unavailable())
      replayPoint = authenticated.replayPoint
    }
    if (auth.kind === "scope" && !(caller as Caller).scopes.includes(auth.scope)) {
      return yield* Effect.fail(RequestError.InsufficientScope({ scope: auth.scope }))
    }

    // A draft's schemas are published, but no request to it is checked.
    if (operation.draft) return yield* Effect.fail(RequestError.NotServed())
    if (!acceptsJson(headers["accept"])) return yield* Effect.fail(RequestError.NotAcceptable())
    const decoded = yield* decode(operation, parameters, search)
    const endpointId = auth.kind === "signature" ? (decoded.path as WebhookPath).endpoint_id : undefined
    if (endpointId !== undefined) {
      progress.caller = { organizationId: yield* limited(progress, findOwner(endpointId)), id: endpointId, used: 0 }
    }
    const rawBody = yield* readBody(operation, request)
    if (handler === "not served") return yield* Effect.fail(RequestError.NotServed())
    if (endpointId !== undefined) {
      const sender = yield* limited(progress, verifySignature(endpointId, headers["x-signature"], rawBody))
      activity.noteVerification(sender, yield* Clock.currentTimeMillis)
      caller = sender
    }
    const { body, bodyText } = yield* decodeBody(operation, rawBody)

    const named = Object.fromEntries(
      operation.headers.flatMap((name) => {
        const value = headers[name.toLowerCase()]
        return value === undefined ? [] : [[name, value]]
      }),
    )
    const handled = handler({ ...decoded, body, bodyText, caller, headers: named, url } as never)
    const execute = Effect.map(handled, (response: ReadResponse) => {
      if (response.pageEnd !== undefined) activity.noteRead(caller as Caller, response.pageEnd)
      return response
    }) as typeof handled
    const read =
      standby === undefined || replayPoint === undefined || caller === undefined
        ? execute
        : standby.read(execute, {
            organizationId: caller.organizationId,
            replayPoint,
            isConditional: headers["if-none-match"] !== undefined,
          })
    const executed: StoredResponse =
      caller === undefined || !("keyId" in caller) || headers["idempotency-key"] === undefined
        ? encode(yield* limited(progress, read))
        : yield* limited(
            progress,
            executeOnce(request, { caller, body: rawBody, requestId: progress.requestId }, execute, (error) =>
              toErrorResponse(error, progress, docsUrl),
            ),
          )
    if (executed.status >= 400) progress.code = JSON.parse(executed.body!).error.code
    return respond(request, {
      ...executed,
      headers: {
        "X-Request-Id": progress.requestId,
        ...executed.headers,
        ...(progress.window && rateLimitHeaders(progress.window)),
      },
    })
  })

  const application = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const progress: RequestState = {
      requestId: yield* createIdentifier("request"),
      operation: undefined,
      envelope: "partner",
      window: undefined,
      isPage: false,
      waitedMs: 0,
      caller: undefined,
      code: "",
    }
    const startedAt = performance.now()
    let refused: RequestError | undefined
    const response = yield* answer(request, progress).pipe(
      Effect.catchCause((cause) =>
        Effect.gen(function* () {
          const error = yield* errorOf(cause, progress, unavailable)
          refused = error
          if (error._tag === "RateLimited" && error.over) {
            progress.window = error.over.window
            progress.caller = callerOf(error.over.caller, error.over.window)
          }
          const { status, body, headers } = toErrorResponse(error, progress, docsUrl)
          progress.code = (body as ErrorBody).error.code
          const now = (yield* Clock.currentTimeMillis) / 1000
          return respond(request, encode({ status, body, headers: { ...errorHeaders(progress, now), ...headers } }))
        }),
      ),
    )
    const route = progress.operation ?? (progress.isPage ? "page" : "none")
    counters.count(route, response.status, (performance.now() - startedAt) / 1000, refused)
    if (progress.caller !== undefined) activity.count(progress.caller, progress.code)
    return response.headers["x-request-id"] === undefined
      ? HttpServerResponse.setHeader(response, "X-Request-Id", progress.requestId)
      : response
  })
  return { application }
})

const callerOf = ({ organizationId, keyId }: Caller, { limit, remaining }: RateLimitDecision): KnownCaller => ({
  organizationId,
  id: keyId,
  used: limit - remaining,
})

/** What both envelopes of errors have. */
type ErrorBody = { readonly error: { readonly code: string } }

type WebhookPath = { readonly endpoint_id: EndpointId }

/** A handler of some row, which the table of handlers has matched with its row already. */
type AnyHandler = "not served" | ((input: never) => ReturnType<Handler<OperationId>>)

// Of several, Node takes the first, and a proxy perhaps the last.
const ONCE = ["Host", "Authorization"]

// RFC 9112 3.2: HTTP/1.0 may leave out its host. Node would answer a request without one, but without an envelope.
const checkHeaders = ({ rawHeaders, httpVersion }: IncomingMessage): RequestError | undefined => {
  if (httpVersion !== "1.0" && countLines(rawHeaders, "host") === 0) {
    return headerError("MISSING_PARAMETER", "Host", "is required")
  }
  const repeated = ONCE.find((name) => countLines(rawHeaders, name.toLowerCase()) > 1)
  return repeated === undefined ? undefined : headerError("INVALID_PARAMETER", repeated, "must be given once")
}

const headerError = (code: "MISSING_PARAMETER" | "INVALID_PARAMETER", parameter: string, problem: string) =>
  RequestError.BadRequest({ code, parameter, message: `${parameter}: ${problem}` })

const keysOf = <Key extends string>(table: Readonly<Record<Key, unknown>>) => Object.keys(table) as Array<Key>

const splitUrl = (url: string): readonly [path: string, search: string] => {
  const mark = url.indexOf("?")
  return mark === -1 ? [url, ""] : [url.slice(0, mark), url.slice(mark + 1)]
}

const allowed = (allow: string) => HttpServerResponse.empty({ status: 204, headers: { Allow: allow } })

// JSON has no charset parameter (RFC 8259 11), but clients ask for one.
const acceptsJson = (accept: string | undefined): boolean =>
  accept === undefined ||
  accept === "" ||
  new Negotiator({ headers: { accept: accept.replaceAll(/; *charset=[^;,]*/gi, "") } }).mediaType([
    "application/json",
  ]) !== undefined

// What is not an expected error is a defect: logged under the request's id, and never shown. An outage of the database is logged in bulk.
const errorOf = Effect.fnUntraced(function* (
  cause: Cause.Cause<RequestError>,
  { requestId, operation }: ResponseContext,
  unavailable: UnavailableLog["Service"],
) {
  const error = cause.reasons.find(Cause.isFailReason)?.error
  if (error !== undefined) return error
  if (Cause.hasInterruptsOnly(cause)) return yield* Effect.interrupt
  const failure = transientFailure(cause)
  if (failure !== undefined) {
    yield* unavailable.count(failure, requestId)
    return RequestError.Unavailable()
  }
  yield* Effect.logError("unhandled error in request").pipe(
    Effect.annotateLogs({ requestId, operation: operation ?? "none", errors: describeCause(cause) }),
  )
  return RequestError.Defect()
})
