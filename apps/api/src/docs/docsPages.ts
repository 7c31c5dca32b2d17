import { extname } from "node:path"
import openapi from "@outreach/contract/openapi.json" with { type: "json" }
import { html } from "@outreach/process/html"
import { Effect } from "effect"
import { ApiConfig } from "../ApiConfig.ts"
import type { PageRow } from "../http/serve.ts"
import { renderedAssets, renderedPages } from "./renderedDocs.ts"
import signatureVectors from "./signatureVectors.json" with { type: "json" }
import { staticPage } from "./staticPage.ts"

const DOCUMENT = { "Content-Type": "application/json", "Cache-Control": "public, max-age=300" } as const

const PAGE = {
  "Content-Type": "text/html; charset=utf-8",
  // Pages contain the names of their assets, so they must be revalidated after a release.
  "Cache-Control": "no-cache",
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
} as const

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
}

/** Published documents: the OpenAPI document and the guides. */
export const docsPages = Effect.gen(function* () {
  const config = yield* ApiConfig
  const { publicBaseUrl, deployment } = config
  const fill = (markup: string): string =>
    markup.replaceAll(
      /\{\{(publicBaseUrl|docsUrl|unauthenticatedLimit)\}\}/g,
      (_, name: "publicBaseUrl" | "docsUrl" | "unauthenticatedLimit") => html`${config[name]}`.markup,
    )
  const served = { ...openapi, servers: [{ url: publicBaseUrl, description: deployment }] }
  const texts = [
    ["/v1/openapi.json", JSON.stringify(served), DOCUMENT],
    ["/docs/signature-vectors.json", JSON.stringify(signatureVectors, null, 2), DOCUMENT],
    ...renderedPages.map(({ path, markup }) => [path, fill(markup), PAGE] as const),
    ...renderedAssets.map(({ path, text }) => [`/docs/${path}` as const, text, headersOf(path)] as const),
  ] as const
  return yield* Effect.forEach(texts, ([path, text, headers]) =>
    Effect.map(staticPage(text, headers), (page): PageRow<never> => ["GET", path, page]),
  )
})

const headersOf = (path: string) => ({
  "Content-Type": TYPES[extname(path)]!,
  "Cache-Control": "public, max-age=31536000, immutable",
})
