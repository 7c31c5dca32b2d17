import { globSync, readFileSync } from "node:fs"

// Linux reports CPU time in hundredths of a second, independent of the kernel's tick rate (proc(5), USER_HZ).
const MICROS_PER_TICK = 10_000

/**
 * Returns the CPU time of a process, its children and its dead children in microseconds; 0 without /proc.
 *
 * CPU time is less noisy than wall clock time, because it excludes the machine's other processes.
 */
export const cpuTime = (pid: number): number =>
  childrenOf(pid).reduce((sum, child) => sum + ticks(child, 11, 12), ticks(pid, 11, 12, 13, 14)) * MICROS_PER_TICK

/** Returns the pid of a process's parent. */
export const parentOf = (pid: number): number => Number(readStat(pid)[1])

const childrenOf = (pid: number): readonly number[] =>
  globSync("/proc/[0-9]*")
    .map((folder) => Number(folder.slice("/proc/".length)))
    .filter((child) => parentOf(child) === pid)

const ticks = (pid: number, ...fields: readonly number[]): number => {
  const stat = readStat(pid)
  return fields.reduce((sum, field) => sum + Number(stat[field] ?? 0), 0)
}

// The fields after the command name, which is in parentheses and may contain any character: state 0, parent 1, user time 11, system time 12,
// and the user and system time of dead children 13 and 14.
const readStat = (pid: number): readonly string[] => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    return text.slice(text.lastIndexOf(")") + 2).split(" ")
  } catch {
    return []
  }
}
