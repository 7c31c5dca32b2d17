import { cpus } from "node:os"
import { parseArgs } from "node:util"
import { type Candidate, candidates } from "./signature/candidates.ts"
import { measure, type Workload } from "./signature/measure.ts"

// Compares the CPU time of a signature with alternative libraries, and with only the digest.

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "21" },
    milliseconds: { type: "string", default: "30" },
  },
})
const [rounds, milliseconds] = [Number(values.rounds), Number(values.milliseconds)]

const bodyOf = (bytes: number): string => {
  const shell = JSON.stringify({ object: "event", data: { text: "" } })
  return shell.replace('""', `"${"a".repeat(bytes - shell.length)}"`)
}
const SIZES = [
  ["2 KB", bodyOf(2048)],
  ["64 KB", bodyOf(65_536)],
] as const
const ACTS = ["sign", "verify"] as const

console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]!.model}`)
console.log(
  `CPU time of one operation, over all threads; ${rounds} rounds of ${milliseconds} ms in turn, ratios round by round\n`,
)

for (const [size, text] of SIZES) {
  for (const act of ACTS) {
    for (const [form, body] of [
      ["text", text],
      ["bytes", Buffer.from(text)],
    ] as const) {
      report(`${act} ${size} of ${form}`, await race({ act, body }))
    }
  }
}

/** Measures all candidates in rounds, each starting with a different candidate. The first round warms up the compiler. */
async function race(workload: Workload): Promise<ReadonlyMap<Candidate, readonly number[]>> {
  const results = new Map(candidates.map((candidate) => [candidate, [] as number[]]))
  for (let round = -1; round < rounds; round++) {
    const first = (round + 1) % candidates.length
    for (const candidate of [...candidates.slice(first), ...candidates.slice(0, first)]) {
      const microseconds = await measure(candidate, workload, milliseconds)
      if (round >= 0) results.get(candidate)!.push(microseconds)
    }
  }
  return results
}

function report(title: string, results: ReadonlyMap<Candidate, readonly number[]>): void {
  row(title, ["CPU µs", "speed ratio of ours", "quartiles", "from – to"])
  const ours = results.get(candidates[0]!)!
  for (const [{ name }, microseconds] of results) {
    const ratios = microseconds.map((it, round) => it / ours[round]!).sort((a, b) => a - b)
    const at = (share: number) => ratios[Math.round(share * (ratios.length - 1))]!.toFixed(2)
    const middle = microseconds.toSorted((a, b) => a - b)[Math.floor(microseconds.length / 2)]!
    row(name, [middle.toFixed(2), at(0.5), `${at(0.25)}–${at(0.75)}`, `${at(0)}–${at(1)}`])
  }
  console.log()
}

function row(head: string, cells: readonly string[]): void {
  console.log(`  ${head.padEnd(24)}${cells.map((cell) => cell.padStart(18)).join("")}`)
}
