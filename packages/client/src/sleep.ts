declare global {
  // Merges with the runtime's own, and lets the declarations compile where there are types of neither the DOM nor Node.
  interface AbortSignal {}
}

/** Waits, unless the signal aborts first: then it rejects with the signal's reason. */
export type Sleep = (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>

/** The longest that a timer takes, some 24 days: one that is set to more ends at once. */
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
