import { cpus } from "node:os"
import type { Depth } from "./measureDepth.ts"
import type { Performance, Round, Workload } from "./measureRounds.ts"
import { median } from "./median.ts"
import type { Profile } from "./profileShares.ts"
import { CANDIDATES } from "./startServer.ts"

const COLUMNS = [
  ["requests/s", ({ perSecond }) => perSecond, 0],
  ["p50 ms", ({ p50 }) => p50, 1],
  ["p99 ms", ({ p99 }) => p99, 1],
  ["CPU µs", ({ cpu }) => cpu, 0],
  ["PostgreSQL µs", ({ databaseCpu }) => databaseCpu, 0],
] as const satisfies readonly (readonly [name: string, of: (it: Performance) => number, digits: number])[]

/** Prints the machine and the candidates. */
export function reportMachine(): void {
  console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]!.model}`)
  console.log("ours: apps/api · baseline: fastify + postgres.js, written by hand. CPU time is per request.\n")
}

/** Prints each candidate's medians, and the ratios of the candidates within each round. */
export function reportRounds({ name }: Workload, processes: number, rounds: readonly Round[]): void {
  console.log(`${name}, ${processes} ${processes === 1 ? "process" : "processes"}, ${rounds.length} rounds`)
  printRow(
    "",
    COLUMNS.map(([column]) => column),
  )
  for (const candidate of CANDIDATES) {
    printRow(
      candidate,
      COLUMNS.map(([, of, digits]) => median(rounds.map((round) => of(round[candidate]))).toFixed(digits)),
    )
  }
  const ratios = COLUMNS.map(([, of]) => rounds.map(({ ours, baseline }) => of(ours) / of(baseline)))
  printRow(
    "ours ÷ baseline",
    ratios.map((it) => median(it).toFixed(2)),
  )
  printRow(
    "  from – to",
    ratios.map((it) => `${Math.min(...it).toFixed(2)}–${Math.max(...it).toFixed(2)}`),
  )
  console.log()
}

/** Prints the latency of a deep page and of the first page. */
export function reportDepth({ rows, pairs }: Depth): void {
  const first = median(pairs.map((pair) => pair.first))
  const deep = median(pairs.map((pair) => pair.deep))
  console.log(
    `page 1 and page ${(rows / 100).toLocaleString("en")} of 100 rows, one request at a time, ${pairs.length} of each`,
  )
  console.log(`  first ${first.toFixed(2)} ms · deep ${deep.toFixed(2)} ms · deep ÷ first ${(deep / first).toFixed(2)}`)
}

const MAX_FUNCTIONS = 40

/** Prints each candidate's CPU microseconds per unit of work, such as a request, by package and by function. */
export function reportProfiles(workload: string, unit: string, profiles: ReadonlyMap<string, Profile>): void {
  for (const [candidate, { cpu, packages, functions }] of profiles) {
    console.log(`${workload}, ${candidate}: ${cpu.toFixed(1)} µs a ${unit}\n  by package`)
    const print = ([name, share]: readonly [string, number]) =>
      console.log(`  ${(share * cpu).toFixed(1).padStart(7)} µs ${(share * 100).toFixed(1).padStart(5)} %  ${name}`)
    for (const entry of packages) if (entry[1] >= 0.002) print(entry)
    console.log("  by function")
    for (const entry of [...functions].slice(0, MAX_FUNCTIONS)) print(entry)
    console.log()
  }
}

const printRow = (head: string, cells: readonly string[]) =>
  console.log(`  ${head.padEnd(12)}${cells.map((cell) => cell.padStart(15)).join("")}`)
