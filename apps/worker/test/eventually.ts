import { setTimeout } from "node:timers/promises"

/** Asks again until the answer satisfies, at most `withinMs`; throws when it never does. */
export const eventually = async <A>(
  ask: () => Promise<A> | A,
  satisfies: (answer: A) => boolean,
  withinMs = 100_000,
): Promise<A> => {
  const end = performance.now() + withinMs
  while (true) {
    const answer = await ask()
    if (satisfies(answer)) return answer
    if (performance.now() > end)
      throw new Error(`still not so after ${withinMs} ms: ${JSON.stringify(answer)?.slice(0, 500)}`)
    await setTimeout(20)
  }
}
