/** Markup with all interpolated values escaped. */
export class Html {
  readonly markup: string
  constructor(markup: string) {
    this.markup = markup
  }
}

/** A value that can be interpolated into markup. Lists are joined without separators. */
export type Part = Html | string | number | ReadonlyArray<Part>

/** Creates markup. Interpolated text is escaped for elements and quoted attributes. */
export const html = (texts: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Html =>
  new Html(String.raw({ raw: texts }, ...parts.map(render)))

const render = (part: Part): string => {
  if (part instanceof Html) return part.markup
  if (typeof part === "object") return part.map(render).join("")
  return String(part).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** Renders text of the contract; backticks enclose code. */
export const prose = (text: string): Part =>
  text.split("`").map((piece, i) => (i % 2 === 1 ? html`<code>${piece}</code>` : piece))

export const join = (parts: ReadonlyArray<Part>, separator = ", "): Part =>
  parts.map((part, i) => (i === 0 ? part : [separator, part]))
