/** A row of docs/conformance.md: a sentence of the specification, and the tests that show it. */
export interface ConformanceRow {
  readonly heading: string
  readonly sentence: string
  /** Tests or groups of tests. Each name is the file, the groups and the title, joined by " › ". */
  readonly tests: ReadonlyArray<string>
  /** The other text of the row. */
  readonly words: string
}

/** Parses the page's tables. Each row has a sentence, and its tests and other text separated by `<br>`. */
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

/** Removes the backslashes that escape Markdown's special characters. */
const plain = (cell: string) => cell.replaceAll(/\\([|<*_])/g, "$1")
