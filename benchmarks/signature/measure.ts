import type { Contender } from "./contenders.ts"

/** What is asked of each contender. */
export interface Question {
  readonly act: "sign" | "verify"
  readonly body: string | Buffer
}

/** Lets one contender do what is asked for so many milliseconds, and answers the CPU microseconds of one time, over all threads. */
export async function measure(contender: Contender, { act, body }: Question, milliseconds: number): Promise<number> {
  const header = await contender.sign(body)
  const run = act === "sign" ? () => contender.sign(body) : () => contender.verify(header, body)
  const asynchronous = run() instanceof Promise
  const started = performance.now()
  const before = process.cpuUsage()
  let count = 0
  // The clock is read after every ten alone: it would weigh as much as a tenth of a short one.
  do {
    if (asynchronous) for (let i = 0; i < 10; i++) await run()
    else for (let i = 0; i < 10; i++) run()
    count += 10
  } while (performance.now() - started < milliseconds)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}
