import { Html, html, type Part } from "@outreach/process/html"
import MarkdownIt, { type Env, type RendererRule, type Token } from "markdown-it"
import { code } from "./layout.ts"

/** Values that a guide names in double braces: as a block, within a line, or in a block of code. */
export type GuideValues = Readonly<Record<string, Part>>

/** Markdown that replaces a line of a guide that names it. */
export type GuideTexts = Readonly<Record<string, string>>

/**
 * Renders a guide in Markdown, with values in double braces and ids of headings in braces. The first paragraph introduces the page. The
 * info string of code is its label, and a table is labelled by its heading. Throws if a value is missing.
 */
export const renderGuide = (guide: string, values: GuideValues, texts: GuideTexts = {}): Html => {
  const source = guide.replaceAll(/^\{\{(\w+)\}\}$/gm, (line, name: string) =>
    Object.hasOwn(texts, name) ? texts[name]! : line,
  )
  return new Html(markdown.render(source, { values }))
}

const VALUE = /\{\{(\w+)\}\}/y

const findValue = (name: string, env: Env | undefined): Part => {
  const known = env?.["values"] as GuideValues
  if (!Object.hasOwn(known, name)) throw new Error(`a guide names ${name}, which is not a value`)
  return known[name]!
}

const markdown = new MarkdownIt({ html: true })

markdown.inline.ruler.before("text", "value", (state, isSilent) => {
  VALUE.lastIndex = state.pos
  const [text, name] = VALUE.exec(state.src) ?? []
  if (text === undefined) return false
  if (!isSilent) state.push("value", "", 0).content = name!
  state.pos += text.length
  return true
})

markdown.core.ruler.push("guide", ({ tokens }) => {
  let heading = ""
  for (const [i, token] of tokens.entries()) {
    const opening = tokens[i - 1]
    const text = token.children?.at(-1)
    if (opening?.type === "heading_open" && text !== undefined) {
      const [, title = text.content, id] = /^(.+) \{#([\w-]+)\}$/.exec(text.content) ?? []
      if (id !== undefined) opening.attrSet("id", id)
      heading = text.content = title
      linkAnchor(opening, token.children!)
    }
    if (opening?.type === "paragraph_open") {
      if (tokens[i - 2]?.tag === "h1") opening.attrSet("class", "lead")
      // A value may be a block.
      opening.hidden = tokens[i + 1]!.hidden =
        opening.hidden || (token.children!.length === 1 && text!.type === "value")
    }
    if (token.type === "table_open") token.attrSet("aria-label", heading)
    if (token.type === "th_open") token.attrSet("scope", "col")
    if (token.type === "td_open" && opening!.type === "tr_open") {
      token.attrSet("scope", "row")
      token.tag = tokens[i + 2]!.tag = "th"
    }
  }
})

/** Makes the text of a heading a link to it, if it has an anchor before its text. */
const linkAnchor = (heading: Token, children: Array<Token>): void => {
  const [, id] = /^<a id="(.+)">$/.exec(children[0]?.content ?? "") ?? []
  if (id === undefined) return
  heading.attrSet("id", id)
  children[0]!.content = html`<a href="#${id}">`.markup
  children.push(...children.splice(1, 1))
}

Object.assign(markdown.renderer.rules, {
  value: (tokens, i, _, env) => html`${findValue(tokens[i]!.content, env)}`.markup,
  fence(tokens, i, _, env) {
    const { info, content } = tokens[i]!
    const source = content.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => String(findValue(name, env)).trimEnd())
    return code(info, source).markup
  },
  // A table that is too wide scrolls horizontally, also with the keyboard.
  table_open: (tokens, i) =>
    html`<div class="scroll" role="region" aria-label="${tokens[i]!.attrGet("aria-label")!}" tabindex="0"><table>\n`
      .markup,
  table_close: () => "</table></div>\n",
} satisfies Record<string, RendererRule>)
