import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import Negotiator from "negotiator"
import { matchesEtag } from "../handlers/etag.ts"

export interface PageHeaders {
  readonly "Content-Type": string
  readonly "Cache-Control": string
  readonly "Content-Security-Policy"?: string
}

/** Security headers of every published document, in addition to its content security policy. */
const SECURITY = {
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
} as const

// openapi.json with 114 KB: 10.9 KB in 5 ms at quality 5, 9.6 KB in 69 ms at 11; gzip 12.6 KB.
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

/** Creates a page with a constant body, compressed once. Supports conditional requests. */
export const staticPage = (body: string | Uint8Array, headers: PageHeaders) => {
  const bytes = Buffer.from(body)
  const hash = hashOf(bytes)
  const compressed = Effect.promise(() =>
    Promise.all([promisify(brotliCompress)(bytes, BROTLI), promisify(gzip)(bytes)]),
  )

  return Effect.map(compressed, ([br, gz]) => {
    const forms = {
      br: { bytes: br, etag: `"${hash}-br"` },
      gzip: { bytes: gz, etag: `"${hash}-gzip"` },
      identity: { bytes, etag: `"${hash}"` },
    } as const

    return Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
      const wanted = new Negotiator(request).encodings(["br", "gzip", "identity"])
      // Browsers list encodings without preference; choose the smallest.
      const encoding = (["br", "gzip"] as const).find((name) => wanted.includes(name)) ?? "identity"
      const form = forms[encoding]
      const all = { ...SECURITY, ...headers, ETag: form.etag, Vary: "Accept-Encoding" }
      if (matchesEtag(request.headers["if-none-match"], `"${hash}"`)) {
        return HttpServerResponse.empty({ status: 304, headers: all })
      }
      return HttpServerResponse.uint8Array(form.bytes, {
        headers: encoding === "identity" ? all : { ...all, "Content-Encoding": encoding },
        contentType: headers["Content-Type"],
      })
    })
  })
}

/** Hashes the content of a file, for its ETag and its URL. */
export const hashOf = (bytes: Uint8Array | string): string =>
  createHash("sha256").update(bytes).digest("base64url").slice(0, 27)
