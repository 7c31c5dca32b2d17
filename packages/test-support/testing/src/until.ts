import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"

/** Dispatches `change` after each change. */
export class Changes extends EventTarget {
  announce(): void {
    this.dispatchEvent(new Event("change"))
  }
}

/** A line that a process logged as JSON. */
export interface LogLine {
  readonly message: string
  readonly level: string
  // biome-ignore lint/suspicious/noExplicitAny: each message has its own annotations
  readonly annotations: Readonly<Record<string, any>>
}

/** Something that a test can wait for: the log of a process, or a server that records the requests it receives. */
export interface Source {
  readonly changes: Changes
  /** The lines that a process has logged. */
  readonly lines?: ReadonlyArray<LogLine>
  /** Describes why nothing more will happen; undefined while something can. */
  readonly over?: () => string | undefined
}

/** Far more than a loaded machine needs, so that a test that waits in vain fails with a reason. */
const LIMIT_MS = 100_000

/**
 * Waits for an event of a source, and returns it.
 *
 * @param event - the message of a log line, or a function that returns the awaited value, or undefined or false if it isn't there yet.
 * The function is called once at the start and after each change.
 * @param options.count - waits for this number of log lines with the message, and returns the last of them. Default 1.
 * @throws an error if the source ended first, or if nothing happened within `withinMs`
 */
export function until(
  source: Source & { readonly lines: ReadonlyArray<LogLine> },
  event: string,
  options?: { readonly count?: number; readonly withinMs?: number },
): Promise<LogLine>
export function until<S extends Source, A>(
  source: S,
  event: (source: S) => A | undefined | false,
  options?: { readonly withinMs?: number },
): Promise<A>
export async function until(
  source: Source,
  event: string | ((source: never) => unknown),
  { count = 1, withinMs = LIMIT_MS }: { readonly count?: number; readonly withinMs?: number } = {},
): Promise<unknown> {
  const find =
    typeof event === "string"
      ? () => source.lines!.filter(({ message }) => message === event)[count - 1]
      : () => event(source as never)
  const what = typeof event === "string" ? `"${event}"` : String(event).slice(0, 200)
  const limit = AbortSignal.timeout(withinMs)
  for (;;) {
    const found = find()
    if (found !== undefined && found !== false) return found
    const end = source.over?.()
    if (end !== undefined) throw new Error(`${what} didn't happen: ${end}`)
    await once(source.changes, "change", { signal: limit }).catch(() => {
      throw new Error(`${what} didn't happen within ${withinMs} ms`)
    })
  }
}

/** Reads a value until it satisfies a condition, and returns it. Throws if it does not within `withinMs`. */
export const eventually = async <A>(
  read: () => Promise<A> | A,
  satisfies: (value: A) => boolean,
  withinMs = LIMIT_MS,
): Promise<A> => {
  const end = performance.now() + withinMs
  while (true) {
    const value = await read()
    if (satisfies(value)) return value
    if (performance.now() > end)
      throw new Error(`condition not met within ${withinMs} ms: ${JSON.stringify(value)?.slice(0, 500)}`)
    await sleep(20)
  }
}
