import { type Operation, type OperationId, operations } from "@outreach/contract"
import { curlExamples } from "./curlExamples.ts"
import { type Html, html, prose } from "./html.ts"
import { code, keysOf, linkList, section } from "./layout.ts"
import type { GuideValues } from "./renderGuide.ts"

const request = (id: OperationId): Html => {
  const { summary, description, auth }: Operation = operations[id]
  return section(
    id,
    summary,
    html`<p>${prose(description)}${auth.kind === "scope" ? html` The key needs the scope <code>${auth.scope}</code>.` : ""}${auth.kind === "signature" ? " You send the event, signed with your secret." : ""}
<a href="reference#${id}" aria-label="${summary}: the reference">Reference</a></p>
${code(summary, curlExamples[id])}`,
  )
}

/** The values of the page of requests: a command for each operation, alone and under its summary. */
export const requestValues: GuideValues = {
  ...curlExamples,
  requestContents: html`<nav aria-label="On this page">${linkList([
    ["variables", "Set these once"],
    ...keysOf(operations).map((id) => [id, operations[id].summary] as const),
    ["again", "Ask again"],
    ["failures", "When it fails"],
  ])}</nav>`,
  requests: keysOf(operations).map(request),
}
