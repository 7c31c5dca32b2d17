/** One sentence of the specification on the page of conformance, and what shows it. */
export interface ConformanceRow {
  readonly heading: string
  readonly sentence: string
  /** Tests, or groups of them, each by its file, groups and title with " › " between them. */
  readonly tests: ReadonlyArray<string>
  /** What else the row says. */
  readonly words: string
}

/** Reads the page's tables: a sentence and what shows it in each row, the latter's parts with `<br>` between them. */
export function conformanceRows(page: string): ReadonlyArray<ConformanceRow> {
  let heading = ""
  return page.split("\n").flatMap((line, i, lines) => {
    if (/^##+ /.test(line)) heading = line.replace(/^##+ /, "")
    const isHead = lines[i + 1]?.startsWith("| -")
    if (!line.startsWith("| ") || line.startsWith("| -") || isHead) return []
    const [, sentence = "", shownBy = ""] = line.split(/(?<!\\)\|/).map((cell) => plain(cell.trim()))
    const parts = shownBy.split("<br>")
    return {
      heading,
      sentence,
      tests: parts.filter(isTest),
      words: parts.filter((part) => !isTest(part)).join(" "),
    }
  })
}

const isTest = (part: string) => /^\S+\.(test|proof)\.ts › /.test(part)

// What Markdown would take for its own stands escaped on the page.
const plain = (cell: string) => cell.replaceAll(/\\([|<*_])/g, "$1")
