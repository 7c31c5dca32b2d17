/** Markup in which everything that was put in has been escaped. */
export class Html {
  readonly markup: string
  constructor(markup: string) {
    this.markup = markup
  }
}

/** What may be put into markup; a list is put in without anything between its parts. */
export type Part = Html | string | number | ReadonlyArray<Part>

/** Writes markup; a text that is put in stands for itself, in an element as in a quoted attribute. */
export const html = (texts: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Html =>
  new Html(String.raw({ raw: texts }, ...parts.map(render)))

const render = (part: Part): string => {
  if (part instanceof Html) return part.markup
  if (typeof part === "object") return part.map(render).join("")
  return String(part).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Writes a text of the contract, in which backticks enclose code. */
export const prose = (text: string): Part =>
  text.split("`").map((piece, i) => (i % 2 === 1 ? html`<code>${piece}</code>` : piece))

export const commaSeparated = (parts: ReadonlyArray<Part>): Part =>
  parts.map((part, i) => (i === 0 ? part : [", ", part]))

/** Returns what markup shows, in one line. */
export const textOf = (markup: string): string =>
  markup
    .replaceAll(/<\/?(?:a|code|small|strong)\b[^>]*>/g, "")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replaceAll(/\s+/g, " ")
    .trim()
