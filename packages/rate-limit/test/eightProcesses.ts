import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"

/** Lets eight processes take from one key together, and returns how often each was allowed. */
export async function eightProcesses(
  kind: "redis" | "postgres",
  address: string,
  algorithm: "fixedWindow" | "tokenBucket",
  { limit, times, cost }: { readonly limit: number; readonly times: number; readonly cost: number },
): Promise<readonly number[]> {
  const script = join(import.meta.dirname, "takeMany.ts")
  const processes = Array.from({ length: 8 }, () => {
    const args = [script, kind, address, algorithm, ...[limit, times, cost].map(String)]
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] })
    return { child, ended: once(child, "close"), lines: createInterface(child.stdout)[Symbol.asyncIterator]() }
  })
  const next = async ({ lines }: (typeof processes)[number]) => (await lines.next()).value as string
  await Promise.all(processes.map(next))
  for (const { child } of processes) child.stdin.write("go\n")
  const allowed = await Promise.all(processes.map(async (it) => Number(await next(it))))
  await Promise.all(processes.map(({ ended }) => ended))
  return allowed
}
