import { setTimeout } from "node:timers/promises"

/** Reads a value until it satisfies a condition, and returns it. Throws if it does not within `withinMs`. */
export const eventually = async <A>(
  read: () => Promise<A> | A,
  satisfies: (value: A) => boolean,
  withinMs = 100_000,
): Promise<A> => {
  const end = performance.now() + withinMs
  while (true) {
    const value = await read()
    if (satisfies(value)) return value
    if (performance.now() > end)
      throw new Error(`condition not met within ${withinMs} ms: ${JSON.stringify(value)?.slice(0, 500)}`)
    await setTimeout(20)
  }
}
