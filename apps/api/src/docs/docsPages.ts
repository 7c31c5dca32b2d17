import { readFile } from "node:fs/promises"
import { extname } from "node:path"
import { fileURLToPath } from "node:url"
import openapi from "@outreach/contract/openapi.json" with { type: "json" }
import { Effect } from "effect"
import { ApiConfig } from "../ApiConfig.ts"
import { changelogValues } from "./changelogValues.ts"
import { errorValues } from "./errorValues.ts"
import { keysOf, layout, PAGES, pathOf } from "./layout.ts"
import { referenceValues } from "./referenceValues.ts"
import { type GuideValues, renderGuide } from "./renderGuide.ts"
import { requestValues } from "./requestValues.ts"
import signatureVectors from "./signatureVectors.json" with { type: "json" }
import { startValues } from "./startValues.ts"
import { hashOf, staticPage } from "./staticPage.ts"
import { verifyInYourLanguage } from "./verifyInYourLanguage.ts"
import { webhookValues } from "./webhookValues.ts"

const DOCUMENT = {
  "Content-Type": "application/json",
  "Cache-Control": "public, max-age=300",
} as const

const PAGE = {
  "Content-Type": "text/html; charset=utf-8",
  // A page names its assets, so an older one than the process must not linger.
  "Cache-Control": "no-cache",
  "Content-Security-Policy":
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
} as const

/** The published documents, each with its path: the OpenAPI document, and the pages for people. */
export const docsPages = Effect.gen(function* () {
  const { publicBaseUrl, deployment, docsUrl, unauthenticatedLimit } = yield* ApiConfig
  const [icon, frameStyle, guideStyle] = yield* Effect.all([
    asset(import.meta.resolve("#docs/icon.svg")),
    asset(import.meta.resolve("#docs/frame.css")),
    asset(import.meta.resolve("#docs/guide.css")),
  ])
  const values: GuideValues = {
    ...startValues,
    ...requestValues,
    ...webhookValues,
    ...errorValues(docsUrl),
    ...referenceValues,
    ...changelogValues,
    publicBaseUrl,
    unauthenticatedLimit,
    webhookServer: yield* read(import.meta.resolve("#samples/webhookServer")),
    reconcile: yield* read(import.meta.resolve("#samples/reconcile")),
    verifyInYourLanguage: yield* Effect.promise(verifyInYourLanguage),
  }
  const pages = yield* Effect.forEach(keysOf(PAGES), (current) =>
    Effect.gen(function* () {
      const content = renderGuide(yield* read(import.meta.resolve(`#docs/guides/${current}.md`)), values)
      const { markup } = layout({ current, styles: [frameStyle.path, guideStyle.path], icon: icon.path, content })
      return [pathOf(current), yield* staticPage(markup, PAGE)] as const
    }),
  )
  const served = { ...openapi, servers: [{ url: publicBaseUrl, description: deployment }] }

  return {
    "/v1/openapi.json": yield* staticPage(JSON.stringify(served), DOCUMENT),
    "/docs/signature-vectors.json": yield* staticPage(JSON.stringify(signatureVectors, null, 2), DOCUMENT),
    ...Object.fromEntries(pages),
    ...Object.fromEntries([icon, frameStyle, guideStyle].map(({ path, page }) => [`/docs/${path}`, page] as const)),
  }
})

const read = (url: string) => Effect.promise(() => readFile(new URL(url), "utf8"))

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
}

/** Creates a page of a file under an address that names its content, so that browsers may keep it for ever. */
const asset = Effect.fnUntraced(function* (file: string) {
  const bytes = yield* Effect.promise(() => readFile(fileURLToPath(file)))
  const type = extname(file)
  const page = yield* staticPage(bytes, {
    "Content-Type": TYPES[type]!,
    "Cache-Control": "public, max-age=31536000, immutable",
  })
  return { path: `assets/${hashOf(bytes)}${type}`, page } as const
})
