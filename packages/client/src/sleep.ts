declare global {
  // Merges with the runtime's type, and lets the declarations compile without the types of DOM or Node.
  interface AbortSignal {}
}

/** Waits. Rejects with the signal's reason if it aborts first. */
export type Sleep = (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>

/** Maximum delay of a timer, about 24 days. Timers with a longer delay fire immediately. */
export const LONGEST_TIMER: number = 2 ** 31 - 1

export const sleep: Sleep = (milliseconds, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", stop)
        resolve()
      },
      Math.min(milliseconds, LONGEST_TIMER),
    )
    signal?.addEventListener("abort", stop, { once: true })
  })
