import { setTimeout } from "node:timers/promises"

/** Asks again until the answer satisfies, at most `withinMs`; answers the last one, for the test to judge. */
export const eventually = async <A>(
  ask: () => Promise<A> | A,
  satisfies: (answer: A) => boolean,
  withinMs = 100_000,
): Promise<A> => {
  const end = performance.now() + withinMs
  while (true) {
    const answer = await ask()
    if (satisfies(answer) || performance.now() > end) return answer
    await setTimeout(20)
  }
}
