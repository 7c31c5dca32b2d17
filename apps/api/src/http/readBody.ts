import type { Operation } from "@outreach/contract"
import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, type HttpServerRequest } from "effect/http"
import type { Refusal } from "./refuse.ts"

const NOTHING = new Uint8Array()

/** Reads a request's body as bytes, no more of it than its operation takes. An operation without a body refuses one. */
export const readBody = Effect.fnUntraced(function* (
  operation: Operation,
  request: HttpServerRequest.HttpServerRequest,
): Effect.fn.Return<Uint8Array, Refusal> {
  const { headers } = request
  const length = headers["content-length"]
  const given = headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0")
  if (operation.body === null) return given ? yield* Effect.fail(NO_BODY) : NOTHING
  if (!given) return NOTHING

  const { maxBytes } = operation.body
  const tooLarge: Refusal = { reason: "payload too large", maxBytes }
  if (!isJson(headers["content-type"]) || !/^(?:identity)?$/i.test(headers["content-encoding"] ?? "")) {
    return yield* Effect.fail<Refusal>({ reason: "unsupported media type" })
  }
  if (Number(length ?? 0) > maxBytes) return yield* Effect.fail(tooLarge)

  const bytes = yield* request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBytes)),
    Effect.mapError(({ reason }) => ("reason" in reason && reason.reason === "BodyTooLarge" ? tooLarge : INCOMPLETE)),
  )
  return new Uint8Array(bytes)
})

const isJson = (contentType: string | undefined): boolean =>
  contentType === undefined || /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i.test(contentType)

const NO_BODY: Refusal = {
  reason: "bad request",
  code: "INVALID_PARAMETER",
  parameter: "body",
  message: "body: the operation takes none",
}

const INCOMPLETE: Refusal = {
  reason: "bad request",
  code: "INVALID_PARAMETER",
  parameter: "body",
  message: "body: ended before it was complete",
}
