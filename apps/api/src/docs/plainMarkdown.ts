import { CODE_BLOCK } from "./codeBlock.ts"
import { PAGES } from "./layout.ts"
import { languageOf } from "./renderGuide.ts"

const PAGE_LINK = new RegExp(`(\\]\\((?:docs/|\\.\\./)?(?:docs|${Object.keys(PAGES).join("|")}))(?=[#)])`, "g")

/** The markup in guides and its Markdown. Links to other pages point to their Markdown. */
const RULES: ReadonlyArray<readonly [markup: RegExp, markdown: string]> = [
  [/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g, "- $1: $2"],
  [/<small>(.*?)<\/small>(?:<br>\n)? */g, "$1. "],
  [/<code>(.*?)<\/code>/g, "`$1`"],
  [/<a href="(.*?)">(.*?)<\/a>/g, "[$2]($1)"],
  [/<summary>(.*?)<\/summary>/g, "**$1**"],
  [/<br>/g, " "],
  [/<\/?(?:dl|div|details|p)(?: [^>]*)?>/g, ""],
  [/ +$/gm, ""],
  [/\n{3,}/g, "\n\n"],
  [PAGE_LINK, "$1.md"],
]

/** Converts a guide with its values to Markdown for other readers: without markup, and with the language of code before its label. */
export const plainMarkdown = (guide: string): string =>
  guide
    .split(CODE_BLOCK)
    .map((part, i) => (i % 2 === 1 ? codeOf(part) : textOf(part)))
    .join("")

const textOf = (guide: string): string =>
  RULES.reduce((text, [markup, markdown]) => text.replaceAll(markup, markdown), guide).replaceAll(
    /&#(\d+);/g,
    (_, code) => String.fromCharCode(code),
  )

const codeOf = (block: string): string =>
  block.replace(/^```(.*)\n([\s\S]*)/, (_, label, text) => `\`\`\`${languageOf(label, text)} ${label}\n${text}`)
