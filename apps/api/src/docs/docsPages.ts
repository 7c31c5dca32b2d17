import { readFile } from "node:fs/promises"
import openapi from "@outreach/contract/openapi.json" with { type: "json" }
import { Effect } from "effect"
import { ApiConfig } from "../ApiConfig.ts"
import { asset } from "./asset.ts"
import { errorsPage } from "./errorsPage.ts"
import { html } from "./html.ts"
import { layout } from "./layout.ts"
import { referencePage } from "./referencePage.ts"
import { staticPage } from "./staticPage.ts"
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
    asset(import.meta.resolve("./icon.svg")),
    asset(import.meta.resolve("./frame.css")),
    asset(import.meta.resolve("./guide.css")),
    asset(import.meta.resolve("./viewer.css")),
    asset(import.meta.resolve("./viewer.js")),
    asset(import.meta.resolve("swagger-ui-dist/swagger-ui.css")),
    asset(import.meta.resolve("swagger-ui-dist/swagger-ui-bundle.js")),
  ])
  const [verifySignature, webhookServer, reconcile] = yield* Effect.promise(() =>
    Promise.all(
      ["verifySignature", "webhookServer", "reconcile"].map((name) =>
        readFile(new URL(`./samples/${name}.ts`, import.meta.url), "utf8"),
      ),
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
      samples: { verifySignature: verifySignature!, webhookServer: webhookServer!, reconcile: reconcile! },
    }),
  )
  const served = { ...openapi, servers: [{ url: publicBaseUrl, description: deployment }] }

  return {
    "/v1/openapi.json": yield* staticPage(JSON.stringify(served), DOCUMENT),
    "/docs": yield* staticPage(reference.markup, page(VIEWER_POLICY)),
    "/docs/errors": yield* staticPage(errors.markup, page(POLICY)),
    "/docs/webhooks": yield* staticPage(webhooks.markup, page(POLICY)),
    ...Object.fromEntries(
      [icon, frameStyle, guideStyle, fittingStyle, startScript, viewerStyle, viewerScript].map(
        ({ path, page }) => [`/docs/${path}`, page] as const,
      ),
    ),
  }
})
