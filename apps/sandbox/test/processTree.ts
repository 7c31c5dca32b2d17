import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"

/** Lists a process and all that it started, directly or not. */
export const processTree = (root: number): readonly number[] => {
  const all = processes()
  const below = (pid: number): number[] => [
    pid,
    ...all.filter(([, parent]) => parent === pid).flatMap(([child]) => below(child)),
  ]
  return below(root)
}

/** Reports whether a process still runs. A zombie does not. */
export const runs = (pid: number): boolean => processes().some(([running]) => running === pid)

/** Every process and its parent. */
const processes = (): ReadonlyArray<readonly [number, number]> => {
  const lines =
    process.platform === "linux"
      ? linesOfProc()
      : execFileSync("ps", ["-A", "-o", "pid=,stat=,ppid="], { encoding: "utf8" }).split("\n")
  return lines.flatMap((line) => {
    const [pid, state = "Z", parent] = line.trim().split(/\s+/)
    return state.startsWith("Z") ? [] : [[Number(pid), Number(parent)] as const]
  })
}

/** Returns the pid, the state and the parent of each process. Not every Linux has `ps`. */
const linesOfProc = (): string[] =>
  readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return []
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
      // The process name in parentheses may contain any character. The state and the parent follow the last parenthesis.
      return [`${pid} ${stat.slice(stat.lastIndexOf(")") + 2)}`]
    } catch {
      return []
    }
  })
