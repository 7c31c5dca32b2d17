import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

/** The partner as a process of its own. */
export interface Receiver {
  readonly url: string
  readonly reset: () => Promise<void>
  /** How many different deliveries have arrived. */
  readonly count: () => Promise<number>
  /** Milliseconds from each event's publication to its arrival. */
  readonly latencies: () => Promise<readonly number[]>
  readonly stop: () => void
}

/** Starts a partner that answers 200 at once. */
export async function startReceiver(): Promise<Receiver> {
  const child = fork(fileURLToPath(import.meta.resolve("./receiver.ts")))
  const [{ port }] = (await once(child, "message")) as [{ port: number }]
  const ask = async (what: "count" | "reset" | "latencies") => {
    child.send(what)
    const [answer] = await once(child, "message")
    return answer as { count: number; latencies: readonly number[] }
  }
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    reset: async () => void (await ask("reset")),
    count: async () => (await ask("count")).count,
    latencies: async () => (await ask("latencies")).latencies,
    stop: () => child.disconnect(),
  }
}
