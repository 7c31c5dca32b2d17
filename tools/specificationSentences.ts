interface Section {
  readonly title: string
  /** The line after which it counts; its heading unless told. */
  readonly from?: string
  /** The rules that count, where others do not. */
  readonly rules?: ReadonlyArray<string>
}

/** The sections whose every sentence has a row. */
const SECTIONS: ReadonlyArray<Section> = [
  { title: "What the service does", from: "Conventions:" },
  { title: "Resources and their fields" },
  { title: "Endpoints" },
  { title: "Authentication", rules: ["1. ", "2. ", "3. "] },
  { title: "Errors" },
  { title: "Limits" },
  { title: "Versioning" },
]

/** The sentences under one heading, in their order. */
export interface Passage {
  readonly heading: string
  readonly sentences: ReadonlyArray<string>
}

/**
 * Splits the specification into the sentences that the page of conformance answers for.
 *
 * A table's row is one sentence, its cells joined by " · "; the text of a bullet, a numbered rule or a paragraph is split where a sentence ends.
 */
export function specificationSentences(specification: string): ReadonlyArray<Passage> {
  return SECTIONS.flatMap(({ title, from, rules }) => {
    const section = specification.split(`\n## ${title}\n`)[1]?.split("\n## ")[0]
    const text = from === undefined ? section : section?.split(`\n${from}\n`)[1]
    if (text === undefined) throw new Error(`The specification has no ${from ?? `section ${title}`}`)
    const lines = text.split("\n").filter((line) => rules?.some((rule) => line.startsWith(rule)) ?? true)
    return passages(from?.slice(0, -1) ?? title, lines)
  })
}

function passages(title: string, lines: ReadonlyArray<string>): ReadonlyArray<Passage> {
  const found: Array<{ heading: string; sentences: Array<string> }> = [{ heading: title, sentences: [] }]
  lines.forEach((line, i) => {
    if (line.startsWith("### ")) found.push({ heading: line.slice(4), sentences: [] })
    else if (!isTableHead(line, lines[i + 1])) found.at(-1)!.sentences.push(...sentencesOf(line))
  })
  return found.filter(({ sentences }) => sentences.length > 0)
}

const isTableHead = (line: string, next = "") => line.startsWith("|-") || next.startsWith("|-")

function sentencesOf(line: string): ReadonlyArray<string> {
  if (line.startsWith("|")) {
    const cells = line.split("|").map((cell) => cell.trim())
    return [cells.filter((cell) => cell !== "").join(" · ")]
  }
  return line
    .replace(/^(?:\d+\.|-) /, "")
    .split(/(?<=\.) (?=[A-Z0-9`*])/)
    .filter((sentence) => sentence !== "")
}
