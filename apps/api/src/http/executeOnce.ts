import { createHash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { decode, requestHeaders } from "@outreach/contract"
import { executeOnce, type IdempotencyRepository, type StoredResponse } from "@outreach/domain/idempotency/executeOnce"
import type { Caller } from "@outreach/domain/organizations/ApiKey"
import type { Transaction } from "@outreach/domain/Transaction"
import { Context, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import * as z from "zod"
import { accept } from "./decode.ts"
import { encode, type OperationResponse } from "./encode.ts"
import type { HandlerServices } from "./Handlers.ts"
import { invalidParameter, RequestError } from "./RequestError.ts"

/** Handler ports on the same connection as the stored responses, so that all share one transaction. */
export class TransactionalServices extends Context.Service<
  TransactionalServices,
  Context.Context<HandlerServices | IdempotencyRepository | Transaction>
>()("api/http/TransactionalServices") {}

/** Compressed responses of one organization's keys; the oldest are deleted beyond it. */
const MAX_STORED_BYTES = 256 * 1024 * 1024

const KeyHeader = z.object({ "Idempotency-Key": requestHeaders["Idempotency-Key"] })

const GIVEN_TWICE = invalidParameter("Idempotency-Key", "must be given once")

/** Creates the function that executes a request once per `Idempotency-Key` and returns the stored response to repetitions. */
export const createExecuteOnce = Effect.gen(function* () {
  const services = yield* TransactionalServices

  return Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest,
    { caller, body, requestId }: { readonly caller: Caller; readonly body: Uint8Array; readonly requestId: string },
    execute: Effect.Effect<OperationResponse, RequestError, HandlerServices>,
    respond: (error: RequestError) => OperationResponse,
  ): Effect.fn.Return<StoredResponse, RequestError> {
    const { rawHeaders } = request.source as IncomingMessage
    if (countLines(rawHeaders, "idempotency-key") > 1) return yield* Effect.fail(GIVEN_TWICE)
    const header = yield* accept(decode(KeyHeader, { "Idempotency-Key": request.headers["idempotency-key"] }))
    const fingerprint = createHash("sha256").update(`${request.method} ${request.url}\n`).update(body).digest()

    // An error body contains its request id, so repetitions return the first response's request id.
    const result = (response: OperationResponse, keep: boolean) => ({
      response: encode({ ...response, headers: { ...response.headers, "X-Request-Id": requestId } }),
      keep,
    })
    // Successes and results about the caller's records are stored; 304, errors before the handler and server failures aren't.
    const execution = execute.pipe(
      Effect.map((response) => result(response, response.status < 300)),
      Effect.catch((error) =>
        error === RequestError.TokenNotFound ? Effect.succeed(result(respond(error), true)) : Effect.fail(error),
      ),
    )
    const { response, replayed } = yield* executeOnce(
      { organizationId: caller.organizationId, key: header["Idempotency-Key"], fingerprint },
      execution,
      { maxStoredBytes: MAX_STORED_BYTES },
    ).pipe(
      Effect.catchTags({
        IdempotencyKeyReused: () => Effect.fail(RequestError.IdempotencyKeyReused),
        IdempotencyKeyInUse: () => Effect.fail(RequestError.IdempotencyKeyInUse),
      }),
      Effect.provideContext(services),
    )
    return replayed ? { ...response, headers: { ...response.headers, "Idempotent-Replayed": "true" } } : response
  })
})

/** Counts the lines of a header (lowercase name) in Node's `rawHeaders`; Node itself joins them or uses the first. */
export const countLines = (rawHeaders: ReadonlyArray<string>, name: string): number =>
  rawHeaders.filter((text, i) => i % 2 === 0 && text.length === name.length && text.toLowerCase() === name).length
