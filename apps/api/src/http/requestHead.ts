import type { IncomingMessage } from "node:http"
import { HttpServerResponse } from "effect/http"
import Negotiator from "negotiator"
import { countLines } from "./executeOnce.ts"
import { invalidParameter, type RequestError } from "./RequestError.ts"

// If repeated, Node uses the first, and a proxy possibly the last.
const ONCE = ["Host", "Authorization"]

/**
 * Validates the headers of a request before routing.
 *
 * RFC 9112, 3.2: only HTTP/1.0 may omit the host. Node's own rejection would lack an envelope.
 */
export const checkHeaders = ({ rawHeaders, httpVersion }: IncomingMessage): RequestError | undefined => {
  if (httpVersion !== "1.0" && countLines(rawHeaders, "host") === 0) {
    return invalidParameter("Host", "is required", "MISSING_PARAMETER")
  }
  const repeated = ONCE.find((name) => countLines(rawHeaders, name.toLowerCase()) > 1)
  return repeated === undefined ? undefined : invalidParameter(repeated, "must be given once")
}

export const splitUrl = (url: string): readonly [path: string, search: string] => {
  const mark = url.indexOf("?")
  return mark === -1 ? [url, ""] : [url.slice(0, mark), url.slice(mark + 1)]
}

export const allowed = (allow: string) => HttpServerResponse.empty({ status: 204, headers: { Allow: allow } })

/** Returns whether an `Accept` header allows JSON. JSON has no charset parameter (RFC 8259, 11), but clients send one. */
export const acceptsJson = (accept: string | undefined): boolean =>
  accept === undefined ||
  accept === "" ||
  new Negotiator({ headers: { accept: accept.replaceAll(/; *charset=[^;,]*/gi, "") } }).mediaType([
    "application/json",
  ]) !== undefined
