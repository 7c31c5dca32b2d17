import { createHash } from "node:crypto"
import { HttpServerResponse } from "effect/http"
import { iconText, scriptTexts, styleText } from "./browserFiles.ts"

/** A file of the pages, with a URL that contains a digest, so that browsers can cache it forever. */
const asset = (extension: string, contentType: string, text: string) => ({
  path: `/assets/${createHash("sha256").update(text).digest("hex").slice(0, 16)}.${extension}` as const,
  response: HttpServerResponse.text(text, {
    contentType,
    headers: { "cache-control": "public, max-age=31536000, immutable" },
  }),
})

export const style = asset("css", "text/css; charset=utf-8", styleText)
export const icon = asset("svg", "image/svg+xml", iconText)
export const scripts = scriptTexts.map((text) => asset("js", "text/javascript; charset=utf-8", text))
