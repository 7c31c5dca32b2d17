import type { IncomingMessage, ServerResponse } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type { Operation } from "@outreach/contract"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { RequestError } from "./toErrorResponse.ts"

const NOTHING = new Uint8Array()

/** The most bytes of bodies that requests hold together, from their arrival until they are answered. */
const MAX_BYTES_IN_FLIGHT = 16 * 1_048_576

/**
 * Creates the function that reads a request's body as bytes, no more of it than its operation takes. An operation without a body refuses one.
 *
 * When the bodies in flight exceed their bound, the oldest that is still arriving is refused, so that slow senders cannot shut out others.
 */
export const createReadBody = () => {
  let bytesInFlight = 0
  /** Refuses a body that is arriving; oldest first. */
  const arriving = new Set<() => void>()

  // Of Node's own events: the adapter's `arrayBuffer` takes some 15 µs more, and its stream 45.
  const collect = (
    source: IncomingMessage,
    response: ServerResponse,
    maxBytes: number,
  ): Effect.Effect<Uint8Array, RequestError> =>
    Effect.callback((resume) => {
      // Its client left while the endpoint was looked up: the events that end the wait have come already.
      if (source.destroyed) return resume(Effect.fail(INCOMPLETE))
      const chunks: Array<Uint8Array> = []
      let size = 0
      const leave = () => {
        arriving.delete(giveWay)
        source.off("data", onData).off("end", onEnd).off("error", onBreak).off("close", onBreak)
      }
      const release = () => {
        bytesInFlight -= size
        size = 0
        chunks.length = 0
      }
      const refuse = (error: RequestError) => {
        leave()
        release()
        source.pause()
        resume(Effect.fail(error))
      }
      const giveWay = () => refuse(RequestError.Unavailable())
      const onData = (chunk: Uint8Array) => {
        chunks.push(chunk)
        size += chunk.length
        bytesInFlight += chunk.length
        if (size > maxBytes) return refuse(RequestError.PayloadTooLarge({ maxBytes }))
        for (const refuseOldest of arriving) {
          if (bytesInFlight <= MAX_BYTES_IN_FLIGHT) break
          refuseOldest()
        }
      }
      const onEnd = () => {
        leave()
        resume(Effect.succeed(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
        chunks.length = 0
      }
      const onBreak = () => {
        leave()
        resume(Effect.fail(INCOMPLETE))
      }
      arriving.add(giveWay)
      source.on("data", onData).on("end", onEnd).on("error", onBreak).on("close", onBreak)
      response.on("close", release)
      return Effect.sync(leave)
    })

  return Effect.fnUntraced(function* (
    operation: Operation,
    request: HttpServerRequest.HttpServerRequest,
  ): Effect.fn.Return<Uint8Array, RequestError> {
    const { headers } = request
    const length = headers["content-length"]
    const given = headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0")
    if (operation.body === null) return given ? yield* Effect.fail(NO_BODY) : NOTHING
    if (!given) return NOTHING

    const { maxBytes } = operation.body
    // The signature covers the bytes, so they are judged whatever type a client names; compressed ones would be other bytes.
    if (!/^(?:identity)?$/i.test(headers["content-encoding"] ?? "")) {
      return yield* Effect.fail(RequestError.UnsupportedMediaType())
    }
    if (Number(length ?? 0) > maxBytes) return yield* Effect.fail(RequestError.PayloadTooLarge({ maxBytes }))

    const response = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
    if (/^100-continue$/i.test(headers["expect"] ?? "")) response.writeContinue()
    return yield* collect(request.source as IncomingMessage, response, maxBytes)
  })
}

const NO_BODY = RequestError.BadRequest({
  code: "INVALID_PARAMETER",
  parameter: "body",
  message: "body: the operation takes none",
})

const INCOMPLETE = RequestError.BadRequest({
  code: "INVALID_PARAMETER",
  parameter: "body",
  message: "body: ended before it was complete",
})
