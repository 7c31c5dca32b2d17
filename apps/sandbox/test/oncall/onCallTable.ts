import type { Fault, Signal } from "./Fault.ts"
import { FAULTS } from "./groups.ts"
import type { Measured } from "./runFault.ts"
import { ALERTS } from "./startPrometheus.ts"

/** The page that contains the table, between two marker lines. */
export const PAGE = "docs/on-call.md"
const BEGIN = "<!-- on call: written by `WRITE_TABLE=1 pnpm prove:oncall` -->"
const END = "<!-- end of on call -->"
const HEAD = ["| fault | signs | after (s) | fix | recovered after (s) |", "| --- | --- | --- | --- | --- |"]

const code = (text: string): string => `\`${text.replaceAll("|", "\\|")}\``

const formatSignal = (signal: Signal): string => {
  if ("alert" in signal) return `[${signal.alert}](${ALERTS.get(signal.alert)!.section})`
  if ("readyz" in signal) return `${code("/readyz")} of the ${signal.of}: ${code(signal.readyz)}`
  if ("log" in signal) return `log of the ${signal.of}: ${code(signal.log)}`
  if ("metric" in signal) return `metric of the ${signal.of}: ${code(signal.metric)}`
  return `${code(signal.command ?? "ops doctor")}: ${code(signal.prints)}`
}

/** The cells of a fault's row that come from its declaration, without the seconds. */
export const cellsOf = ({ name, fault, signals, outside, remedy }: Fault) => ({
  fault: `**${name}**: ${fault}`,
  signals: signals.map(formatSignal).join("<br>"),
  remedy: [...(outside === undefined ? [] : [outside]), ...remedy.map(code)].join("<br>"),
})

/** Formats a fault's row. The seconds of an alert are those until its expression was true, plus its `for`. */
const rowOf = (fault: Fault, { seen, healthy }: Measured): string => {
  const { fault: title, signals, remedy } = cellsOf(fault)
  const seconds = fault.signals.map((signal, i) =>
    "alert" in signal ? `${seen[i]} + ${ALERTS.get(signal.alert)!.lasts}` : String(seen[i]),
  )
  return `| ${[title, signals, seconds.join("<br>"), remedy, healthy].join(" | ")} |`
}

/** Reads the rows of the page's table by fault name. */
export const readRows = (page: string): ReadonlyMap<string, string> =>
  new Map([...between(page).matchAll(/^\| \*\*([\w-]+)\*\*: .*\|$/gm)].map(([row, name]) => [name!, row] as const))

const between = (page: string): string => page.slice(page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END))

/** Returns the table: the measured rows, and the page's rows for the other faults. */
export const formatTable = (measured: ReadonlyMap<string, Measured>, page: string): string => {
  const rows = readRows(page)
  const lines = FAULTS.flatMap((fault) => {
    const found = measured.get(fault.name)
    return found === undefined ? (rows.get(fault.name) ?? []) : rowOf(fault, found)
  })
  return [...HEAD, ...lines].join("\n")
}

/** Returns the page with this table. */
export const withTable = (page: string, table: string): string => {
  if (!page.includes(BEGIN) || !page.includes(END)) throw new Error(`${PAGE} has no place for the table`)
  const [before, after] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)]
  return `${page.slice(0, before)}\n\n${table}\n\n${page.slice(after)}`
}
