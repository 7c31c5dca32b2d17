/** Waits, unless the signal aborts first: then it rejects with the signal's reason. */
export type Sleep = (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>

/** Waits by the runtime's own timer. */
export const sleep: Sleep = (milliseconds, signal) =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop)
      resolve()
    }, milliseconds)
    signal?.addEventListener("abort", stop, { once: true })
  })
