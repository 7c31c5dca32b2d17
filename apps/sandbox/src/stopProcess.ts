import type { ChildProcess } from "node:child_process"
import { Effect } from "effect"

/** How long a process may take to stop before it is killed. */
const STOP_TIMEOUT_MS = 3000

/** Stops a child process, and waits until it has ended. */
export const stopProcess = (child: ChildProcess): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS)
    child.once("exit", () => {
      clearTimeout(timer)
      resume(Effect.void)
    })
    child.kill("SIGTERM")
  })
