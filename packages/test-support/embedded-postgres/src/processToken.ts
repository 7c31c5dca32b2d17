import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { promisify } from "node:util"

/**
 * Returns a token that identifies a running process: its pid and a digest of its start time. A later process with the same
 * pid has another token. Undefined if there is no such process.
 */
export async function processToken(pid: number): Promise<string | undefined> {
  const started = process.platform === "linux" ? await startOnLinux(pid) : await startFromPs(pid)
  return started && `${pid}.${createHash("sha256").update(started).digest("hex").slice(0, 12)}`
}

export async function isRunning(token: string): Promise<boolean> {
  return (await processToken(Number.parseInt(token, 10))) === token
}

/** Returns the command line of a process; empty if there is no such process. */
export async function commandLine(pid: number): Promise<string> {
  if (process.platform !== "linux") return await ps(pid, "command=")
  return (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " ").trim()
}

export async function childrenOf(pid: number): Promise<readonly number[]> {
  const listed =
    process.platform === "linux"
      ? await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")
      : (await promisify(execFile)("pgrep", ["-P", String(pid)])).stdout
  return listed.split(/\s+/).filter(Boolean).map(Number)
}

async function startOnLinux(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")
  // The process name in parentheses may contain any character. The third field, the state, follows the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const [state, startTicks] = [fields[0], fields[19]]
  if (startTicks === undefined || state === "Z" || state === "X") return undefined
  return `${await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "")} ${startTicks}`
}

async function startFromPs(pid: number): Promise<string | undefined> {
  const line = await ps(pid, "stat=,lstart=")
  return line === "" || line.startsWith("Z") ? undefined : line.replace(/^\S+\s+/, "")
}

async function ps(pid: number, columns: string): Promise<string> {
  return await promisify(execFile)("ps", ["-ww", "-o", columns, "-p", String(pid)]).then(
    ({ stdout }) => stdout.trim(),
    () => "",
  )
}
