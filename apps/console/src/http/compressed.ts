import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import { Effect } from "effect"
import { HttpBody, HttpServerRequest, HttpServerResponse } from "effect/http"

/** Compression barely shrinks smaller responses. */
const MIN_BYTES = 1024

/** Halves the size in one or two milliseconds. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

const ENCODINGS = {
  br: (bytes: Uint8Array) => promisify(brotliCompress)(bytes, BROTLI),
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes),
} as const

/** Compresses a text response if the browser accepts it. Streams stay uncompressed. */
export const compressed = Effect.fnUntraced(function* (response: HttpServerResponse.HttpServerResponse) {
  const { body } = response
  if (body._tag !== "Uint8Array" || body.contentLength < MIN_BYTES) return response
  const { "accept-encoding": accepted = "" } = (yield* HttpServerRequest.HttpServerRequest).headers
  const varying = HttpServerResponse.setHeader(response, "vary", "accept-encoding")
  const encoding = (["br", "gzip"] as const).find((name) => accepts(accepted, name))
  if (encoding === undefined) return varying
  const bytes = yield* Effect.promise(() => ENCODINGS[encoding](body.body))
  const smaller = HttpServerResponse.setBody(varying, HttpBody.uint8Array(bytes, body.contentType))
  return HttpServerResponse.setHeader(smaller, "content-encoding", encoding)
})

const accepts = (header: string, encoding: string): boolean =>
  header.split(",").some((each) => {
    const [name = "", ...parameters] = each.split(";").map((part) => part.trim())
    return name.toLowerCase() === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
