import { operations, SCOPES } from "@outreach/contract"
import { html, join } from "@outreach/process/html"
import { keysOf, PAGES, table } from "./layout.ts"
import type { GuideValues } from "./renderGuide.ts"

/** Values of the first page: permissions of each scope, and the other pages. */
export const startValues: GuideValues = {
  scopes: table(
    "Scopes",
    ["scope", "what it opens"],
    SCOPES.map((scope) => [
      html`<code>${scope}</code>`,
      join(
        keysOf(operations)
          .filter((id) => "scope" in operations[id].auth && operations[id].auth.scope === scope)
          .map((id) => html`<a href="docs/reference#${id}">${operations[id].summary.toLowerCase()}</a>`),
      ),
    ]),
  ),
  pages: html`<dl class="pages">
${keysOf(PAGES)
  .filter((page) => page !== "start")
  .map(
    (page) => html`<dt><a href="docs/${page}">${PAGES[page].title}</a></dt><dd>${PAGES[page].description}</dd>\n`,
  )}<dt><a href="docs/../v1/openapi.json">OpenAPI document</a></dt>
<dd>The reference for machines: to generate a client, or to load into your tools.</dd>
</dl>`,
}
