import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { HttpServerResponse } from "effect/http"
import { browserScripts } from "./browserScripts.ts"

const readText = (specifier: string): Promise<string> => readFile(fileURLToPath(import.meta.resolve(specifier)), "utf8")

/** A file of the pages, with a URL that contains a digest, so that browsers can cache it forever. */
const asset = (extension: string, contentType: string, text: string) => ({
  path: `/assets/${createHash("sha256").update(text).digest("hex").slice(0, 16)}.${extension}` as const,
  response: HttpServerResponse.text(text, {
    contentType,
    headers: { "cache-control": "public, max-age=31536000, immutable" },
  }),
})

export const style = asset("css", "text/css; charset=utf-8", await readText("#styles/console.css"))
export const icon = asset("svg", "image/svg+xml", await readText("#styles/icon.svg"))
export const scripts = browserScripts.map((text) => asset("js", "text/javascript; charset=utf-8", text))
