import { fork } from "node:child_process"
import { once } from "node:events"
import type { Load, LoadResult } from "./loadGenerator.ts"

/** A process that sends requests to the servers. */
export interface LoadGenerator {
  readonly pid: number
  readonly run: (load: Load) => Promise<LoadResult>
  readonly stop: () => void
}

/** Starts the load generator. Its requests use the keys in turn. */
export function startLoadGenerator(keys: readonly string[] = []): LoadGenerator {
  const child = fork(new URL("./loadGenerator.ts", import.meta.url), { execArgv: [] })
  const ended = once(child, "exit").then(() => {
    throw new Error("the load generator exited")
  })
  ended.catch(() => {})
  child.send({ keys })
  return {
    pid: child.pid!,
    run: async (load) => {
      child.send(load)
      const [measured] = await Promise.race([once(child, "message"), ended])
      return measured as LoadResult
    },
    stop: () => child.disconnect(),
  }
}
