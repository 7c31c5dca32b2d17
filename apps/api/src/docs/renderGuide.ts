import { Html, html } from "@outreach/process/html"
import hljs from "highlight.js/lib/core"
import bash from "highlight.js/lib/languages/bash"
import csharp from "highlight.js/lib/languages/csharp"
import go from "highlight.js/lib/languages/go"
import java from "highlight.js/lib/languages/java"
import javascript from "highlight.js/lib/languages/javascript"
import json from "highlight.js/lib/languages/json"
import php from "highlight.js/lib/languages/php"
import python from "highlight.js/lib/languages/python"
import ruby from "highlight.js/lib/languages/ruby"
import typescript from "highlight.js/lib/languages/typescript"
import MarkdownIt, { type RendererRule } from "markdown-it"
import { fillGuide } from "./fillGuide.ts"

/** Markdown by the name that a guide contains in double braces. */
export type GuideValues = Readonly<Record<string, string | number>>

/**
 * Renders a guide in Markdown, with values in double braces and ids of headings in braces. The first paragraph introduces the page. The
 * info string of code is its label, and a table is labelled by its heading. Throws if a value is missing.
 */
export const renderGuide = (guide: string, values: GuideValues): Html =>
  new Html(markdown.render(fillGuide(guide, values)))

/** Renders a section of a page, with an anchor. */
export const section = (id: string, title: string, content: string): string => `### ${title} {#${id}}

${content}

`

export const table = (head: ReadonlyArray<string>, ...rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

export const code = (label: string, text: string): string => `\`\`\`${label}\n${text}\n\`\`\``

/** Renders alternatives with their titles, one of which is shown. */
export const tabs = (group: string, contents: ReadonlyArray<readonly [title: string, content: string]>): string => {
  const items = contents.map(
    ([title, content], i) =>
      `<details name="${group}"${i === 0 ? " open" : ""}>\n<summary>${title}</summary>\n\n${content}\n\n</details>`,
  )
  return `<div class="tabs">\n${items.join("\n")}\n</div>`
}

const markdown = new MarkdownIt({ html: true })

markdown.core.ruler.push("guide", ({ tokens, Token }) => {
  let section = ""
  let heading = ""
  for (const [i, token] of tokens.entries()) {
    const opening = tokens[i - 1]
    if (opening?.type === "heading_open") {
      const children = token.children!
      const last = children.at(-1)!
      const [, title = last.content, id] = /^(.*?) ?\{#(\S+)\}$/.exec(last.content) ?? []
      last.content = title
      heading = children.map(({ content }) => content).join("")
      if (opening.tag === "h4") heading += `: ${section}`
      else section = heading
      if (id !== undefined) opening.attrSet("id", id)
      if (id !== undefined && opening.tag === "h3") {
        const link = (content: string) => Object.assign(new Token("html_inline", "", 0), { content })
        token.children = [link(html`<a href="#${id}">`.markup), ...children, link("</a>")]
      }
    }
    if (opening?.type === "paragraph_open" && tokens[i - 2]?.tag === "h1") opening.attrSet("class", "lead")
    if (token.type === "table_open") token.attrSet("aria-label", heading)
    if (token.type === "th_open") token.attrSet("scope", "col")
    if (token.type === "td_open" && opening!.type === "tr_open") {
      token.attrSet("scope", "row")
      token.tag = tokens[i + 2]!.tag = "th"
    }
  }
})

Object.assign(markdown.renderer.rules, {
  // Code and tables that are too wide scroll horizontally, also with the keyboard.
  fence: (tokens, i) => {
    const { info, content } = tokens[i]!
    return html`<div class="code"><pre role="group" tabindex="0" aria-label="${info}"><code>${highlight(info, content.trimEnd())}</code></pre></div>`
      .markup
  },
  table_open: (tokens, i) =>
    html`<div class="scroll" role="region" aria-label="${tokens[i]!.attrGet("aria-label")!}" tabindex="0"><table>\n`
      .markup,
  table_close: () => "</table></div>\n",
} satisfies Record<string, RendererRule>)

const LANGUAGES = { bash, csharp, go, java, javascript, json, php, python, ruby, typescript }

hljs.configure({ classPrefix: "" })
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language)

/** Returns the language of code: the extension of its label; without one it is JSON or shell. */
export const languageOf = (label: string, text: string): string => {
  const [, extension = ""] = /\.(\w+)$/.exec(label) ?? []
  return hljs.getLanguage(extension) ? extension : /^[{[]/.test(text) ? "json" : "bash"
}

const highlight = (label: string, text: string): Html => {
  const { value } = hljs.highlight(text, { language: languageOf(label, text) })
  // No style uses these classes.
  return new Html(value.replaceAll(/<span class="(?:punctuation|operator|params)">([^<]*)<\/span>/g, "$1"))
}
