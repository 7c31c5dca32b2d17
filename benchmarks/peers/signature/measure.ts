import type { Candidate } from "./candidates.ts"

/** The operation that each candidate performs. */
export interface Workload {
  readonly act: "sign" | "verify"
  readonly body: string | Buffer
}

/** Repeats an operation for some milliseconds, and returns its CPU microseconds over all threads. */
export async function measure(candidate: Candidate, { act, body }: Workload, milliseconds: number): Promise<number> {
  const header = await candidate.sign(body)
  const run = act === "sign" ? () => candidate.sign(body) : () => candidate.verify(header, body)
  const asynchronous = run() instanceof Promise
  const started = performance.now()
  const before = process.cpuUsage()
  let count = 0
  // The clock is read only after every ten operations, because a read costs a tenth of a short operation.
  do {
    if (asynchronous) for (let i = 0; i < 10; i++) await run()
    else for (let i = 0; i < 10; i++) run()
    count += 10
  } while (performance.now() - started < milliseconds)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}
