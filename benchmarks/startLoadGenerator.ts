import { fork } from "node:child_process"
import { once } from "node:events"
import type { Load, Measured } from "./loadGenerator.ts"

/** Asks the servers, from a process of its own. */
export interface LoadGenerator {
  readonly pid: number
  readonly run: (load: Load) => Promise<Measured>
  readonly stop: () => void
}

/** Starts the load generator, which asks for targets with each key in turn. */
export function startLoadGenerator(keys: readonly string[] = []): LoadGenerator {
  const child = fork(new URL("./loadGenerator.ts", import.meta.url), { execArgv: [] })
  const ended = once(child, "exit").then(() => {
    throw new Error("the load generator ended")
  })
  ended.catch(() => {})
  child.send({ keys })
  return {
    pid: child.pid!,
    run: async (load) => {
      child.send(load)
      const [measured] = await Promise.race([once(child, "message"), ended])
      return measured as Measured
    },
    stop: () => child.disconnect(),
  }
}
