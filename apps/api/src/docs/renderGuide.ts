import { type Html, html, type Part, prose } from "./html.ts"
import { code, section, table } from "./layout.ts"

/** The values that a guide names in double braces: as a block of its own, within a line, or in a block of code. */
export type GuideValues = Readonly<Record<string, Part>>

/** Texts in the Markdown of guides, which stand where a guide names them in a line of its own. */
export type GuideTexts = Readonly<Record<string, string>>

/**
 * Renders a guide, which is written in a part of Markdown: paragraphs, lists, tables under a line `Table: <caption>`, headings with their
 * ids in braces, sections of named items, and code under its label. Throws on a value that is not there, and on a table without its caption.
 */
export const renderGuide = (guide: string, values: GuideValues, texts: GuideTexts = {}): Html => {
  const text = guide.replaceAll(/^\{\{(\w+)\}\}$/gm, (value, name: string) =>
    Object.hasOwn(texts, name) ? texts[name]! : value,
  )
  const blocks = [...text.matchAll(BLOCK)].map(([block]) => block.trim())
  return html`${blocks.map((block, i) => html`${renderBlock(block, values, blocks[i - 1]?.startsWith("# ") ?? false)}\n`)}`
}

const BLOCK = /^```[\s\S]*?^```$|(?:^### .+\n\n(?:^- .+\n?)+\n?)+|(?:^.+$\n?)+/gm
const HEADING = /^## (.+) \{#([\w-]+)\}$/m

const renderBlock = (block: string, values: GuideValues, isLead: boolean): Part => {
  const [, title, id] = HEADING.exec(block) ?? []
  if (id !== undefined) return html`\n<h2 id="${id}">${title!}</h2>`
  if (block.startsWith("### "))
    return [...block.matchAll(SECTION)].map(([, id, title, items]) => namedItems(id!, title!, items!, values))
  if (block.startsWith("# ")) return html`<h1>${block.slice(2)}</h1>`
  if (block.startsWith("```")) {
    const [, label, source] = /^```(.+)\n([\s\S]*)\n```$/.exec(block)!
    return code(
      label!,
      source!.replaceAll(VALUE, (_, name: string) => String(findValue(name, values)).trimEnd()),
    )
  }
  if (block.startsWith("Table: ")) {
    const [caption, heads, , ...rows] = block.split("\n")
    return table(
      caption!.slice("Table: ".length),
      cellsOf(heads!),
      rows.map((row) => cellsOf(row).map((cell) => inline(cell, values))),
    )
  }
  if (block.startsWith("|")) throw new Error(`a guide has a table without the line "Table: …": ${block}`)
  const items = block.split(/^(?:-|\d+\.) /m).slice(1)
  if (items.length > 0 && items.every((item) => /^\[.+\]\(#.+\)$/.test(item.trim())))
    return html`<ul class="index">\n${items.map((item) => listItem(item, values))}</ul>`
  if (/^- /.test(block)) return html`<ul>\n${items.map((item) => listItem(item, values))}</ul>`
  if (/^1\. /.test(block)) return html`<ol>\n${items.map((item) => listItem(item, values))}</ol>`
  const [, name] = new RegExp(`^${VALUE.source}$`).exec(block) ?? []
  if (name !== undefined) return findValue(name, values)
  return html`<p${isLead ? html` class="lead"` : ""}>${inline(block, values)}</p>`
}

const SECTION = /^### <a id="([^"]+)"><\/a>(.+)\n\n((?:^- .+\n?)+)/gm

/** Writes a section of items `- **<name>**: <text>` as a list of descriptions. */
const namedItems = (id: string, title: string, items: string, values: GuideValues): Html => {
  const rows = [...items.matchAll(/^- \*\*(.+?)\*\*: (.+)$/gm)]
  return section(
    id,
    prose(title),
    html`<dl>\n${rows.map(([, name, text]) => html`<dt>${name!}</dt><dd>${inline(text!, values)}</dd>\n`)}</dl>`,
  )
}

const VALUE = /\{\{(\w+)\}\}/g

const findValue = (name: string, values: GuideValues): Part => {
  if (!Object.hasOwn(values, name)) throw new Error(`a guide names ${name}, which is not a value`)
  return values[name]!
}

const listItem = (item: string, values: GuideValues): Html =>
  html`<li>${inline(item.trim().replaceAll(/\n */g, "\n"), values)}</li>\n`

const cellsOf = (row: string): ReadonlyArray<string> =>
  row
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim())

/** Writes a line: code in backticks, strong text, links, and values. */
const inline = (text: string, values: GuideValues): Part =>
  text.split(/(\[(?:`[^`]*`|[^\]])+\]\([^)]+\)|\*\*.+?\*\*|\{\{\w+\}\})/).map((piece) => {
    const [, label, href] = /^\[(.+)\]\((.+)\)$/s.exec(piece) ?? []
    if (href !== undefined) return html`<a href="${href}">${prose(label!)}</a>`
    const [, strong] = /^\*\*(.+)\*\*$/s.exec(piece) ?? []
    if (strong !== undefined) return html`<strong>${strong}</strong>`
    const [, name] = /^\{\{(\w+)\}\}$/.exec(piece) ?? []
    return name === undefined ? prose(piece) : findValue(name, values)
  })
