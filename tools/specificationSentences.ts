/** The sentences under one heading, in their order. */
export interface Passage {
  readonly heading: string
  readonly sentences: ReadonlyArray<string>
}

/**
 * Splits the whole specification into the sentences that docs/conformance.yaml covers.
 *
 * A table's row is one sentence, with its cells joined by " · ". Bullets, numbered rules and paragraphs are split at the ends of sentences.
 */
export function specificationSentences(specification: string): ReadonlyArray<Passage> {
  const found: Array<{ heading: string; sentences: Array<string> }> = []
  const lines = specification.split("\n").map((line) => line.trim())
  lines.forEach((line, i) => {
    const [, heading] = /^#+ (.+)/.exec(line) ?? []
    if (heading !== undefined) found.push({ heading, sentences: [] })
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
