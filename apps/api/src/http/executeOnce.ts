import { createHash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { decode, type OperationId, requestHeaders } from "@outreach/contract"
import { IdempotencyRepository, type StoredResponse } from "@outreach/domain/idempotency/IdempotencyRepository"
import type { Caller } from "@outreach/domain/organizations/ApiKey"
import { Context, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import * as z from "zod"
import { countLines } from "./countLines.ts"
import { encode, type OperationResponse } from "./encode.ts"
import type { Handler, HandlerServices } from "./Handlers.ts"
import { RequestError } from "./toErrorResponse.ts"

/** The handlers' ports over the connections of the idempotency ledger, so that a claim and its effect share one transaction. */
export class TransactionalServices extends Context.Service<TransactionalServices, Context.Context<HandlerServices>>()(
  "api/http/TransactionalServices",
) {}

const KeyHeader = z.object({ "Idempotency-Key": requestHeaders["Idempotency-Key"] })

const GIVEN_TWICE = RequestError.BadRequest({
  code: "INVALID_PARAMETER",
  parameter: "Idempotency-Key",
  message: "Idempotency-Key: must be given once",
})

/** Creates the function that executes a request once for its `Idempotency-Key`, and answers its repeats as the first was answered. */
export const createExecuteOnce = Effect.gen(function* () {
  const keptResponses = yield* IdempotencyRepository
  const services = yield* TransactionalServices

  return Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest,
    { caller, body, requestId }: { readonly caller: Caller; readonly body: Uint8Array; readonly requestId: string },
    execute: ReturnType<Handler<OperationId>>,
    refused: (refusal: RequestError) => OperationResponse,
  ): Effect.fn.Return<StoredResponse, RequestError> {
    const { rawHeaders } = request.source as IncomingMessage
    if (countLines(rawHeaders, "idempotency-key") > 1) return yield* Effect.fail(GIVEN_TWICE)
    const header = decode(KeyHeader, { "Idempotency-Key": request.headers["idempotency-key"] })
    if (!header.ok) return yield* Effect.fail(RequestError.BadRequest({ ...header.refusal }))
    const fingerprint = createHash("sha256").update(`${request.method} ${request.url}\n`).update(body).digest()

    // Success and what the caller's own records say is kept; 304, refusals before the handler and failures are asked again.
    const execution = execute.pipe(
      Effect.map((answer: OperationResponse) => ({ answer, keep: answer.status < 300 })),
      Effect.catchTag("TokenNotFound", (error) => Effect.succeed({ answer: refused(error), keep: true })),
      // The body of a refusal names its request, so a repeat shows the request id that it was first answered with.
      Effect.map(({ answer, keep }) => ({
        answer: encode({ ...answer, headers: { ...answer.headers, "X-Request-Id": requestId } }),
        keep,
      })),
      Effect.provideContext(services),
    )
    const { answer, replayed } = yield* keptResponses
      .once({ organizationId: caller.organizationId, key: header.value["Idempotency-Key"], fingerprint }, execution)
      .pipe(
        Effect.catchTags({
          IdempotencyKeyReused: () => Effect.fail(RequestError.IdempotencyKeyReused()),
          IdempotencyKeyInUse: () => Effect.fail(RequestError.IdempotencyKeyInUse()),
        }),
      )
    return replayed ? { ...answer, headers: { ...answer.headers, "Idempotent-Replayed": "true" } } : answer
  })
})
