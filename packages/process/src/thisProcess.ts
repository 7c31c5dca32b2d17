import { readFileSync, readlinkSync } from "node:fs"
import { hostname } from "node:os"

/** Where this process can see all others of its user: the same start of the same host, and the same process namespace. Null without /proc. */
const place = (() => {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
    return [hostname(), boot, readlinkSync("/proc/self/ns/pid"), process.getuid?.()].join("/")
  } catch {
    return null
  }
})()

/** Returns when a process started, in ticks since the host's start; undefined if it has ended, also if its parent hasn't noticed yet. */
const startOf = (pid: string): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The name in parentheses may contain any character. The state follows it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return /[ZXx]/.test(fields[0]!) ? undefined : fields[19]
  } catch (error) {
    // The process may run if its state can't be read for another reason.
    if (/^(ENOENT|ESRCH)$/.test((error as NodeJS.ErrnoException).code ?? "")) return undefined
    throw error
  }
}

/** Names this process among those of all hosts. Null where `hasEnded` couldn't tell. */
export const thisProcess: string | null = place && `${place} ${process.pid} ${startOf("self")}`

/** Whether a process has certainly ended: it had the same place as this one, and isn't there. */
export const hasEnded = (name: string): boolean => {
  const [whose, pid = "", start] = name.split(" ")
  return whose === place && startOf(pid) !== start
}
