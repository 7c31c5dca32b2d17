import { readFileSync } from "node:fs"

/** The share of a process's CPU time by name, largest first. The shares add up to 1. */
export type Shares = ReadonlyMap<string, number>

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

/** Sums the self time in the last seconds of a profile of `node --cpu-prof` by the name that `nameOf` gives each frame. Excludes idle time. */
export function sharesOf(
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
export function packageOf({ url, functionName }: CpuProfile["nodes"][number]["callFrame"]): string {
  if (url.startsWith("node:")) return "node"
  if (url === "" || url.startsWith("wasm:")) return functionName.startsWith("(") ? functionName : "V8 and native"
  const installed = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]
  return installed ?? /\/((?:apps|packages|benchmarks)\/[^/]+)\//.exec(url)?.[1] ?? url
}

/** Returns the function of a frame and its location. */
export const functionOf = ({ functionName, url, lineNumber }: CpuProfile["nodes"][number]["callFrame"]): string => {
  const location = url
    .split("/node_modules/")
    .at(-1)!
    .replace(/^file:.*\/(?=(?:apps|packages|benchmarks)\/)/, "")
  return `${functionName || "(anonymous)"} ${location === "" ? "" : `${location}:${lineNumber + 1}`}`
}
