import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

/** A partner in a child process. */
export interface Receiver {
  readonly url: string
  readonly reset: () => Promise<void>
  /** Returns the number of distinct deliveries that have arrived. */
  readonly count: () => Promise<number>
  /** Returns the number of repeated deliveries. */
  readonly repeats: () => Promise<number>
  /** Returns the milliseconds from each event's publication to its arrival. */
  readonly latencies: () => Promise<readonly number[]>
  readonly stop: () => void
}

/** Starts a partner that responds 200 at once. */
export async function startReceiver(): Promise<Receiver> {
  const child = fork(fileURLToPath(import.meta.resolve("./receiver.ts")))
  const [{ port }] = (await once(child, "message")) as [{ port: number }]
  const send = async (message: "count" | "reset" | "latencies") => {
    child.send(message)
    const [arrivals] = await once(child, "message")
    return arrivals as { count: number; repeats: number; latencies: readonly number[] }
  }
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    reset: async () => void (await send("reset")),
    count: async () => (await send("count")).count,
    repeats: async () => (await send("count")).repeats,
    latencies: async () => (await send("latencies")).latencies,
    stop: () => child.disconnect(),
  }
}
