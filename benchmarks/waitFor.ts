import { setTimeout as sleep } from "node:timers/promises"

const MAX_WAIT_MS = 300_000

/** Waits until a condition is met; fails after five minutes. */
export async function waitFor(condition: () => Promise<boolean>, { pollMs = 10 } = {}): Promise<void> {
  const until = performance.now() + MAX_WAIT_MS
  while (!(await condition())) {
    if (performance.now() > until) throw new Error(`The condition was not met within ${MAX_WAIT_MS / 1000} s.`)
    await sleep(pollMs)
  }
}
