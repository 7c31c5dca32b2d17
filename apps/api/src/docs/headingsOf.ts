import { Html } from "./html.ts"

/** A heading of a page. */
export interface Heading {
  readonly level: number
  /** Anchor within the page; empty for the title. */
  readonly id: string
  readonly title: Html
}

const HEADING = /<h([123])(?: id="([^"]*)")?>(?:<a href="#([^"]*)">)?(.*?)(?:<\/a>)?<\/h\1>/gs

/** Extracts the headings of a rendered page, without markup: title, parts and sections. */
export const headingsOf = ({ markup }: Html): ReadonlyArray<Heading> =>
  Array.from(markup.matchAll(HEADING), ([, level, id, linked, title]) => ({
    level: Number(level),
    id: id ?? linked ?? "",
    title: new Html(title!.replaceAll(/<[^>]*>/g, "")),
  }))
