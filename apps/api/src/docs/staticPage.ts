import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import Negotiator from "negotiator"
import { matchesEtag } from "../handlers/etag.ts"

/** Security headers of every published document, in addition to its content security policy. */
export const SECURITY = {
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
} as const

/** Creates a page with a constant body, compressed once. Supports conditional requests. */
export const staticPage = (body: string, headers: Readonly<Record<"Content-Type" | "Cache-Control", string>>) => {
  const bytes = Buffer.from(body)
  const hash = hashOf(bytes)
  return Effect.map(
    Effect.promise(() => promisify(gzip)(bytes)),
    (compressed) =>
      Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
        const isCompressed = new Negotiator(request).encodings(["gzip", "identity"]).includes("gzip")
        const etag = isCompressed ? `"${hash}-gzip"` : `"${hash}"`
        const all = { ...SECURITY, ...headers, ETag: etag, Vary: "Accept-Encoding" }
        if (matchesEtag(request.headers["if-none-match"], `"${hash}"`)) {
          return HttpServerResponse.empty({ status: 304, headers: all })
        }
        return HttpServerResponse.uint8Array(isCompressed ? compressed : bytes, {
          headers: isCompressed ? { ...all, "Content-Encoding": "gzip" } : all,
          contentType: headers["Content-Type"],
        })
      }),
  )
}

/** Hashes the content of a file, for its ETag and its URL. */
export const hashOf = (bytes: Uint8Array | string): string =>
  createHash("sha256").update(bytes).digest("base64url").slice(0, 27)
