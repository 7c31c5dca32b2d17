/** Name of the errors of `stop`. Recognized by name, because a program may load this package twice, as ESM and as CommonJS. */
const NAME = "StopRetry"

/**
 * Creates an error for a task to throw if another attempt is pointless: `throw stop(error)`.
 *
 * `retry` starts no further attempt and rejects with `error` itself, unchanged. `classify` returns `permanent` for it.
 */
export function stop(error: unknown): Error {
  return Object.assign(new Error("The task stopped its retries", { cause: error }), { name: NAME })
}

/** Reports whether a value was created by `stop`. */
export function isStop(value: unknown): value is Error {
  return Object(value).name === NAME
}
