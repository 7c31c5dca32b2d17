import { Effect, type Scope } from "effect"
import type { Display } from "./openDisplay.ts"

/** A second SIGINT within this time is the same Ctrl-C: npm passes on what the terminal has already sent to each process. */
const SAME_CTRL_C_MS = 500

/** Shows that the first signal stops the sandbox in order. A second Ctrl-C ends it. */
export const announceStop = (display: Display): Effect.Effect<void, never, Scope.Scope> => {
  let stoppingSince: number | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    if (stoppingSince === undefined) {
      stoppingSince = Date.now()
      return display.print("Stopping. The same signal again ends it immediately.")
    }
    if (signal !== "SIGINT" || Date.now() - stoppingSince < SAME_CTRL_C_MS) return
    display.print("Stopped immediately. The services and PostgreSQL stop on their own, and the data is kept.")
    process.exit(130)
  }
  return Effect.acquireRelease(
    Effect.sync(() => void process.on("SIGINT", onSignal).on("SIGTERM", onSignal)),
    () => Effect.sync(() => void process.off("SIGINT", onSignal).off("SIGTERM", onSignal)),
  )
}
