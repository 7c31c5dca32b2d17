import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { Context, Effect, Layer } from "effect"
import { HttpServerResponse } from "effect/http"
import { browserScripts } from "./browserScripts.ts"

interface Asset {
  readonly path: `/assets/${string}`
  readonly response: HttpServerResponse.HttpServerResponse
}

/** The files that pages refer to, under addresses that name their content, so that browsers may keep them for ever. */
export class Assets extends Context.Service<
  Assets,
  { readonly style: Asset; readonly icon: Asset; readonly scripts: ReadonlyArray<Asset> }
>()("console/http/Assets") {
  static readonly layer = Layer.effect(
    Assets,
    Effect.promise(async () => ({
      style: asset("css", "text/css; charset=utf-8", await readText("#styles/console.css")),
      icon: asset("svg", "image/svg+xml", await readText("#styles/icon.svg")),
      scripts: browserScripts.map((text) => asset("js", "text/javascript; charset=utf-8", text)),
    })),
  )
}

const readText = (specifier: string): Promise<string> => readFile(fileURLToPath(import.meta.resolve(specifier)), "utf8")

const asset = (extension: string, contentType: string, text: string): Asset => ({
  path: `/assets/${createHash("sha256").update(text).digest("hex").slice(0, 16)}.${extension}`,
  response: HttpServerResponse.text(text, {
    contentType,
    headers: { "cache-control": "public, max-age=31536000, immutable" },
  }),
})
