import type { IncomingMessage } from "node:http"
import { type Operation, type OperationId, operations } from "@outreach/contract"
import type { Caller } from "@outreach/domain/callers/ApiKey"
import { makeIdentifier } from "@outreach/domain/Identifier"
import { DatabaseFailure } from "@outreach/postgres/DatabaseFailure"
import { describeCause } from "@outreach/process/describeCause"
import { rateLimitHeaders } from "@outreach/rate-limit"
import { Cause, Clock, Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ApiConfig } from "../ApiConfig.ts"
import { makeAdmit, type NotAdmitted } from "./admit.ts"
import { decode } from "./decode.ts"
import { encode } from "./encode.ts"
import type { Handler, Handlers } from "./Handlers.ts"
import { type Exchange, type Refusal, refuse } from "./refuse.ts"
import { routeTable } from "./routeTable.ts"

/** A GET outside the contract, such as a probe: it gets a request id and nothing else of the pipeline. */
export type Page<Services> = Effect.Effect<HttpServerResponse.HttpServerResponse, never, Services>

/** What is learned of a request on its way, for the answer to a refusal. */
type Progress = { -readonly [Key in keyof Exchange]: Exchange[Key] }

/**
 * Makes the `application`: every row of the contract with its handler, behind the same steps in the same order, which no row can skip.
 *
 * Request id; path and method; bearer and rate window; scope; decoding; handler; encoding. The claim of an `Idempotency-Key` belongs
 * between decoding and handler.
 */
export const serve = Effect.fnUntraced(function* <Services>(
  handlers: Handlers,
  pages: Readonly<Record<`/${string}`, Page<Services>>>,
) {
  const { docsUrl } = yield* ApiConfig
  const admit = yield* makeAdmit

  type Row = { readonly id: OperationId; readonly operation: Operation; readonly handler: AnyHandler }
  type Target = Row | { readonly page: Page<Services> }
  const find = routeTable<Target>([
    ...keysOf(operations).map((id) => {
      const operation = operations[id]
      return [operation.method, operation.path, { id, operation, handler: handlers[id] as AnyHandler }] as const
    }),
    ...keysOf(pages).map((path) => ["GET", path, { page: pages[path]! }] as const),
  ])

  const answer = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, progress: Progress) {
    const { method, url, headers } = request
    if (headers["host"] === undefined && (request.source as IncomingMessage).httpVersion === "1.1") {
      return yield* Effect.fail(HOST_MISSING)
    }
    const [path, search] = splitUrl(url)
    const found = find(method, path)
    if ("reason" in found) return yield* Effect.fail(found)
    const { target, parameters } = found
    if ("page" in target) return yield* target.page

    const { id, operation, handler } = target
    const { auth } = operation
    progress.operation = id
    progress.envelope = operation.envelope
    let caller: Caller | undefined
    if (auth.kind === "bearer" || auth.kind === "scope") {
      const admitted = yield* admit(headers["authorization"]).pipe(
        Effect.mapError(({ refusal, window }: NotAdmitted) => {
          progress.window = window
          return refusal
        }),
      )
      caller = admitted.caller
      progress.window = admitted.window
    }
    if (auth.kind === "scope" && !caller?.scopes.includes(auth.scope)) {
      return yield* Effect.fail<Refusal>({ reason: "insufficient scope", scope: auth.scope })
    }

    // A draft's schemas are published, but nothing is asked of a request to it.
    if (operation.draft) return yield* Effect.fail<Refusal>({ reason: "not served" })
    const decoded = yield* decode(operation, parameters, search)
    if (handler === "not served") return yield* Effect.fail<Refusal>({ reason: "not served" })

    const named = Object.fromEntries(
      operation.headers.flatMap((name) => {
        const value = headers[name.toLowerCase()]
        return value === undefined ? [] : [[name, value]]
      }),
    )
    const response = yield* handler({ ...decoded, body: undefined, caller, headers: named, url } as never)
    return encode({
      ...response,
      headers: { ...response.headers, ...(progress.window && rateLimitHeaders(progress.window)) },
    })
  })

  const application = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const progress: Progress = {
      requestId: yield* makeIdentifier("request"),
      operation: undefined,
      envelope: "partner",
      window: undefined,
    }
    const response = yield* answer(request, progress).pipe(
      Effect.catchCause((cause) =>
        Effect.gen(function* () {
          const refusal = yield* refusalOf(cause, progress)
          return refuse(refusal, progress, { docsUrl, now: (yield* Clock.currentTimeMillis) / 1000 })
        }),
      ),
    )
    return HttpServerResponse.setHeader(response, "X-Request-Id", progress.requestId)
  })
  return { application }
})

/** A handler of some row, which the table of handlers has matched with its row already. */
type AnyHandler = "not served" | ((asked: never) => ReturnType<Handler<"getHealth" | "getToken" | "listTokens">>)

// RFC 9112 3.2; Node would answer it without an envelope.
const HOST_MISSING: Refusal = {
  reason: "bad request",
  code: "MISSING_PARAMETER",
  parameter: "Host",
  message: "Host: is required",
}

const keysOf = <Key extends string>(table: Readonly<Record<Key, unknown>>) => Object.keys(table) as Array<Key>

const splitUrl = (url: string): readonly [path: string, search: string] => {
  const mark = url.indexOf("?")
  return mark === -1 ? [url, ""] : [url.slice(0, mark), url.slice(mark + 1)]
}

// What no step refused is a defect: logged under the request's id, and never shown.
const refusalOf = Effect.fnUntraced(function* (cause: Cause.Cause<Refusal>, { requestId, operation }: Exchange) {
  const refusal = cause.reasons.find(Cause.isFailReason)?.error
  if (refusal !== undefined) return refusal
  if (Cause.hasInterruptsOnly(cause)) return yield* Effect.interrupt
  yield* Effect.logError("a request failed").pipe(
    Effect.annotateLogs({ requestId, operation: operation ?? "none", errors: describeCause(cause) }),
  )
  const transient = cause.reasons.some(
    (reason) => Cause.isDieReason(reason) && reason.defect instanceof DatabaseFailure && reason.defect.transient,
  )
  return { reason: transient ? "unavailable" : "defect" } satisfies Refusal
})
