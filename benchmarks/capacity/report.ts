import { median } from "../median.ts"
import { bytesOf, type TableBytes } from "./measureTables.ts"

/** CPU microseconds of each process, and bytes of write-ahead log. */
export const PARTS = ["importer", "api", "worker", "postgres", "wal"] as const
export type Usage = Record<(typeof PARTS)[number], number>

/** Prints the medians of each step, and the range of PostgreSQL's values. */
export function reportSteps(rounds: readonly ReadonlyMap<string, Usage>[]): void {
  console.log(
    'CPU in µs: medians, and the range of PostgreSQL\'s; bytes of write-ahead log. "import" is the process that imports.',
  )
  printRow("", ["import", "API", "worker", "PostgreSQL", "from – to", "log"])
  for (const name of rounds[0]!.keys()) {
    const used = (part: keyof Usage) => rounds.map((round) => round.get(name)![part])
    const postgres = used("postgres")
    printRow(name, [
      // In the other steps this process is the load generator.
      name === "import" || name === "whole journey" ? median(used("importer")).toFixed(0) : "",
      median(used("api")).toFixed(0),
      median(used("worker")).toFixed(0),
      median(postgres).toFixed(0),
      `${Math.min(...postgres).toFixed(0)}–${Math.max(...postgres).toFixed(0)}`,
      median(used("wal")).toFixed(0),
    ])
  }
}

/** Prints the bytes per row of each table after a number of journeys. */
export function reportTables(tables: readonly TableBytes[], recipients: number): void {
  console.log(`\nBytes per row after ${recipients} journeys, of tables with at least one row per ten recipients`)
  printRow("", ["heap", "toast", "indexes", "together", "rows/recipient", "B/recipient"])
  for (const table of tables) {
    const a = (bytes: number) => (bytes / table.rows).toFixed(0)
    printRow(table.name, [
      a(table.heap),
      a(table.toast),
      a(table.indexes),
      a(bytesOf(table)),
      (table.rows / recipients).toFixed(2),
      (bytesOf(table) / recipients).toFixed(0),
    ])
  }
  const all = tables.reduce((sum, table) => sum + bytesOf(table), 0) / recipients
  printRow("all of them", ["", "", "", "", "", all.toFixed(0)])
}

function printRow(head: string, cells: readonly string[]): void {
  console.log(`  ${head.padEnd(24)}${cells.map((cell) => cell.padStart(14)).join("")}`)
}
