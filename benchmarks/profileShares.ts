import { readFileSync } from "node:fs"

/** The share of a process's own time that each package took, largest first; 1 in all. */
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

/** Sums the self time of the last seconds of a profile that `node --cpu-prof` wrote, idle time left out, by what `nameOf` calls each frame. */
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
    // A delta is the time from the sample before to this one, which its frame is charged for.
    const delta = timeDeltas[i]!
    time += delta
    // The start of the process and the warm-up are no part of a request.
    if (frame.functionName === "(idle)" || time < endTime - seconds * 1e6) continue
    const name = nameOf(frame)
    micros.set(name, (micros.get(name) ?? 0) + delta)
    total += delta
  }
  const largestFirst = [...micros].sort(([, a], [, b]) => b - a)
  return new Map(largestFirst.map(([name, time]) => [name, time / total]))
}

/** Names the package that a frame belongs to: an npm package, a room of this repository, Node, or V8. */
export function packageOf({ url, functionName }: CpuProfile["nodes"][number]["callFrame"]): string {
  if (url.startsWith("node:")) return "node"
  if (url === "" || url.startsWith("wasm:")) return functionName.startsWith("(") ? functionName : "V8 and native"
  const installed = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1]
  return installed ?? /\/((?:apps|packages|benchmarks)\/[^/]+)\//.exec(url)?.[1] ?? url
}

/** Names the function that a frame is of, and its place. */
export const functionOf = ({ functionName, url, lineNumber }: CpuProfile["nodes"][number]["callFrame"]): string => {
  const place = url
    .split("/node_modules/")
    .at(-1)!
    .replace(/^file:.*\/(?=(?:apps|packages|benchmarks)\/)/, "")
  return `${functionName || "(anonymous)"} ${place === "" ? "" : `${place}:${lineNumber + 1}`}`
}
