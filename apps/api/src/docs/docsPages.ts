import { readFile } from "node:fs/promises"
import { extname } from "node:path"
import { fileURLToPath } from "node:url"
import openapi from "@outreach/contract/openapi.json" with { type: "json" }
import { Effect } from "effect"
import { ApiConfig } from "../ApiConfig.ts"
import { errorsPage } from "./errorsPage.ts"
import { html } from "./html.ts"
import { layout } from "./layout.ts"
import signatureVectors from "./signatureVectors.json" with { type: "json" }
import { hashOf, staticPage } from "./staticPage.ts"
import { verifyInYourLanguage } from "./verifyInYourLanguage.ts"
import { webhooksPage } from "./webhooksPage.ts"

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
// The viewer draws its arrows from data: addresses, and asks this origin alone: for the document, and what one tries out.
const VIEWER_POLICY = `${POLICY.replace("img-src 'self'", "img-src 'self' data:")}; script-src 'self'; connect-src 'self'`

const DOCUMENT = {
  "Content-Type": "application/json",
  "Cache-Control": "public, max-age=300",
} as const

const page = (policy: string) =>
  ({
    "Content-Type": "text/html; charset=utf-8",
    // A page names its assets, so an older one than the process must not linger.
    "Cache-Control": "no-cache",
    "Content-Security-Policy": policy,
  }) as const

/** The published documents, each with its path: the OpenAPI document, its viewer, and the guides. */
export const docsPages = Effect.gen(function* () {
  const { publicBaseUrl, deployment, docsUrl, unauthenticatedLimit } = yield* ApiConfig
  const [icon, frameStyle, guideStyle, fittingStyle, startScript, viewerStyle, viewerScript] = yield* Effect.all([
    asset(import.meta.resolve("#docs/icon.svg")),
    asset(import.meta.resolve("#docs/frame.css")),
    asset(import.meta.resolve("#docs/guide.css")),
    asset(import.meta.resolve("#docs/viewer.css")),
    asset(import.meta.resolve("#docs/viewer.js")),
    asset(import.meta.resolve("#swagger-ui/swagger-ui.css")),
    asset(import.meta.resolve("#swagger-ui/swagger-ui-bundle.js")),
  ])
  const [webhookServer, reconcile] = yield* Effect.promise(() =>
    Promise.all(
      ["webhookServer", "reconcile"].map((name) => readFile(new URL(import.meta.resolve(`#samples/${name}`)), "utf8")),
    ),
  )

  const reference = layout({
    current: "reference",
    styles: [viewerStyle, frameStyle, fittingStyle].map(({ path }) => path),
    icon: icon.path,
    scripts: html`<script src="docs/${viewerScript.path}" defer></script>\n<script src="docs/${startScript.path}" type="module"></script>\n`,
    content: referencePage,
  })
  const guide = (current: "webhooks" | "errors", content: ReturnType<typeof errorsPage>) =>
    layout({ current, styles: [frameStyle.path, guideStyle.path], icon: icon.path, content })
  const errors = guide("errors", errorsPage(docsUrl))
  const webhooks = guide(
    "webhooks",
    webhooksPage({
      unauthenticatedLimit,
      samples: { webhookServer: webhookServer!, reconcile: reconcile! },
      verifyInYourLanguage: yield* Effect.promise(verifyInYourLanguage),
    }),
  )
  const served = { ...openapi, servers: [{ url: publicBaseUrl, description: deployment }] }

  return {
    "/v1/openapi.json": yield* staticPage(JSON.stringify(served), DOCUMENT),
    "/docs": yield* staticPage(reference.markup, page(VIEWER_POLICY)),
    "/docs/errors": yield* staticPage(errors.markup, page(POLICY)),
    "/docs/webhooks": yield* staticPage(webhooks.markup, page(POLICY)),
    "/docs/signature-vectors.json": yield* staticPage(JSON.stringify(signatureVectors, null, 2), DOCUMENT),
    ...Object.fromEntries(
      [icon, frameStyle, guideStyle, fittingStyle, startScript, viewerStyle, viewerScript].map(
        ({ path, page }) => [`/docs/${path}`, page] as const,
      ),
    ),
  }
})

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
}

/** Creates a page of a file, under an address that names its content, so that browsers may keep it for ever. */
const asset = Effect.fnUntraced(function* (file: string) {
  const bytes = yield* Effect.promise(() => readFile(fileURLToPath(file)))
  const type = extname(file)
  const page = yield* staticPage(bytes, {
    "Content-Type": TYPES[type]!,
    "Cache-Control": "public, max-age=31536000, immutable",
  })
  return { path: `assets/${hashOf(bytes)}${type}`, page } as const
})

/** The frame that the viewer fills with the reference, and with the main element. */
const referencePage = html`<div id="content" class="content">
<section aria-labelledby="title">
<h1 id="title">Reference</h1>
<p class="lead">Every endpoint, field and example, from the <a href="docs/../v1/openapi.json">OpenAPI document</a> that this deployment serves. The
guides tell how to <a href="docs/webhooks">receive webhooks</a> and what to do about <a href="docs/errors">errors</a>.</p>
<noscript><p>The viewer needs JavaScript. The OpenAPI document above holds the same.</p></noscript>
</section>
<div id="viewer"></div>
</div>`
