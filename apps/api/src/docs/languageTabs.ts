import { type Html, html, type Part } from "./html.ts"

/** Shows one of several languages at a time, initially the first. A script keeps the choice on all pages. */
export const languageTabs = (
  group: string,
  tabs: ReadonlyArray<{ readonly language: string; readonly content: Part }>,
): Html =>
  // Disclosures with the same name close each other without a script.
  html`<div class="languages">
${tabs.map(
  ({ language, content }, i) => html`<details name="${group}"${i === 0 ? html` open` : ""}>
<summary>${language}</summary>
${content}
</details>
`,
)}</div>`
