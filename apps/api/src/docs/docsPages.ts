import { extname } from "node:path"
import openapi from "@outreach/contract/openapi.json" with { type: "json" }
import { type Html, html } from "@outreach/process/html"
import { RELEASE } from "@outreach/process/release"
import { Effect, Record } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ApiConfig } from "../ApiConfig.ts"
import { splitUrl } from "../http/requestHead.ts"
import type { PageRow } from "../http/serve.ts"
import { fillGuide } from "./fillGuide.ts"
import { renderedAssets, renderedLlms, renderedPages, renderedSearch } from "./renderedDocs.ts"
import { createSearch } from "./search.ts"
import signatureVectors from "./signatureVectors.json" with { type: "json" }
import { SECURITY, staticPage } from "./staticPage.ts"

const DOCUMENT = { "Content-Type": "application/json", "Cache-Control": "public, max-age=300" } as const

const PAGE = {
  "Content-Type": "text/html; charset=utf-8",
  // Pages contain the names of their assets, so they must be revalidated after a release.
  "Cache-Control": "no-cache",
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
} as const

const MARKDOWN = { ...PAGE, "Content-Type": "text/markdown; charset=utf-8" } as const

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
}

/** Published documents: the OpenAPI document, the guides, and their search. */
export const docsPages = Effect.gen(function* () {
  const { publicBaseUrl, docsUrl, unauthenticatedLimit, deployment } = yield* ApiConfig
  // The address is also within quotes of code.
  const values = Record.map({ publicBaseUrl, docsUrl, unauthenticatedLimit, release: RELEASE }, (value) =>
    String(value).replaceAll(/["#$'\\`]/g, (unsafe) => `%${unsafe.charCodeAt(0).toString(16)}`),
  )
  const fill = (text: string, show: (value: string) => string): string => fillGuide(text, Record.map(values, show))
  const guides = renderedPages.map(({ path, markdown }) => [path, fill(markdown, String)] as const)
  const served = { ...openapi, servers: [{ url: publicBaseUrl, description: deployment }] }
  const texts = [
    ["/v1/openapi.json", JSON.stringify(served), DOCUMENT],
    ["/docs/signature-vectors.json", JSON.stringify(signatureVectors, null, 2), DOCUMENT],
    ["/llms.txt", fill(renderedLlms, String), MARKDOWN],
    ...renderedPages.map(({ path, markup }) => [path, fill(markup, escaped), PAGE] as const),
    ...guides.map(([path, markdown]) => [`${path}.md`, markdown, MARKDOWN] as const),
    ...renderedAssets.map(({ path, text }) => [`/docs/${path}` as const, text, headersOf(path)] as const),
  ] as const
  const rows = yield* Effect.forEach(texts, ([path, text, headers]) =>
    Effect.map(staticPage(text, headers), (page): PageRow<never> => ["GET", path, page]),
  )
  return [...rows, ["GET", "/docs/search", searchPage(createSearch(guides))] as const]
})

const escaped = (value: string): string => html`${value}`.markup

const searchPage = (search: (query: string) => Html) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => {
    const query = new URLSearchParams(splitUrl(url)[1]).get("q") ?? ""
    const page = fillGuide(renderedSearch, { query: escaped(query), results: search(query).markup })
    return HttpServerResponse.text(page, { headers: { ...SECURITY, ...PAGE }, contentType: PAGE["Content-Type"] })
  })

const headersOf = (path: string) => ({
  "Content-Type": TYPES[extname(path)]!,
  "Cache-Control": "public, max-age=31536000, immutable",
})
