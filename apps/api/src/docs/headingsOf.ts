import { textOf } from "./html.ts"

/** A heading of a page and the text up to the next heading, without markup. */
export interface Heading {
  readonly level: number
  /** Anchor within the page; empty for the title. */
  readonly id: string
  readonly title: string
  readonly text: string
}

const HEADING = /<h([123])(?: id="([^"]*)")?>(?:<a href="#([^"]*)">)?(.*?)(?:<\/a>)?<\/h\1>/gs

/** Extracts the headings of a rendered page: title, parts and sections. */
export const headingsOf = (markup: string): ReadonlyArray<Heading> => {
  const found = [...markup.matchAll(HEADING)]
  return found.map(([whole, level, id, linked, title], i) => {
    const below = markup.slice(found[i]!.index + whole.length, found[i + 1]?.index)
    return {
      level: Number(level),
      id: id ?? linked ?? "",
      title: textOf(title!),
      // Excludes code, which would match most queries.
      text: textOf(below.replaceAll(/<pre.*?<\/pre>/gs, "")),
    }
  })
}
