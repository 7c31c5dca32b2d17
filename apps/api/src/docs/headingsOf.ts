import { textOf } from "./html.ts"

/** A heading of a page and what stands below it until the next one, both as text without markup. */
export interface Heading {
  readonly level: number
  /** The address within the page; empty for its title. */
  readonly id: string
  readonly title: string
  readonly text: string
}

const HEADING = /<h([123])(?: id="([^"]*)")?>(?:<a href="#([^"]*)">)?(.*?)(?:<\/a>)?<\/h\1>/gs

/** Reads the headings out of a rendered page: its title, its parts, and the sections within these. */
export const headingsOf = (markup: string): ReadonlyArray<Heading> => {
  const found = [...markup.matchAll(HEADING)]
  return found.map(([whole, level, id, linked, title], i) => {
    const below = markup.slice(found[i]!.index + whole.length, found[i + 1]?.index)
    return {
      level: Number(level),
      id: id ?? linked ?? "",
      title: textOf(title!),
      // Code is for copying: its words would be found everywhere.
      text: textOf(below.replaceAll(/<pre.*?<\/pre>/gs, "")),
    }
  })
}
