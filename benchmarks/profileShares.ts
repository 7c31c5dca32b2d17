import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The share of a process's CPU time by name, largest first. The shares add up to 1. */
type Shares = ReadonlyMap<string, number>

/** A process's CPU time by package and by function. */
export interface Profile {
  /** CPU microseconds per unit of work, including the profiler's. */
  readonly cpu: number
  readonly packages: Shares
  readonly functions: Shares
}

/** Runs a process with Node's profiling flags, and sums the last seconds of its profile. The process must exit on its own. */
export async function profileShares(
  run: (flags: readonly string[]) => Promise<{ readonly cpu: number; readonly seconds: number }>,
): Promise<Profile> {
  const folder = mkdtempSync(join(tmpdir(), "outreach-profile-"))
  try {
    const { cpu, seconds } = await run(["--cpu-prof", `--cpu-prof-dir=${folder}`, "--cpu-prof-interval=500"])
    const file = join(folder, readdirSync(folder)[0]!)
    return { cpu, packages: sharesOf(file, seconds, packageOf), functions: sharesOf(file, seconds, functionOf) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly startTime: number
  readonly endTime: number
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** Sums the self time in the last seconds of a profile of `node --cpu-prof` by the name that `nameOf` returns for a frame. Excludes idle time. */
function sharesOf(
  file: string,
  seconds: number,
  nameOf: (frame: CpuProfile["nodes"][number]["callFrame"]) => string,
): Shares {
  const { nodes, startTime, endTime, samples, timeDeltas } = JSON.parse(readFileSync(file, "utf8")) as CpuProfile
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const micros = new Map<string, number>()
  let total = 0
  let time = startTime
  for (const [i, id] of samples.entries()) {
    const frame = frames.get(id)!
    // A delta is the time since the previous sample, and counts for the frame of this one.
    const delta = timeDeltas[i]!
    time += delta
    // The start of the process and the warm-up do not belong to requests.
    if (frame.functionName === "(idle)" || time < endTime - seconds * 1e6) continue
    const name = nameOf(frame)
    micros.set(name, (micros.get(name) ?? 0) + delta)
    total += delta
  }
  const largestFirst = [...micros].sort(([, a], [, b]) => b - a)
  return new Map(largestFirst.map(([name, time]) => [name, time / total]))
}

/** Returns the package of a frame: an npm package, a package of this repository, Node, or V8. */
function packageOf({ url, functionName }: CpuProfile["nodes"][number]["callFrame"]): string {
  if (url.startsWith("node:")) return "node"
  if (url === "" || url.startsWith("wasm:")) return functionName.startsWith("(") ? functionName : "V8 and native"
  const installed = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]
  return installed ?? /\/((?:apps|packages|benchmarks)\/[^/]+)\//.exec(url)?.[1] ?? url
}

/** Returns the function of a frame and its location. */
function functionOf({ functionName, url, lineNumber }: CpuProfile["nodes"][number]["callFrame"]): string {
  const location = url
    .split("/node_modules/")
    .at(-1)!
    .replace(/^file:.*\/(?=(?:apps|packages|benchmarks)\/)/, "")
  return `${functionName || "(anonymous)"} ${location === "" ? "" : `${location}:${lineNumber + 1}`}`
}
