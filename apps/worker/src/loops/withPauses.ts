import { Effect } from "effect"

/** Runs an effect, then sleeps as long as it took, so that others can use the database half of the time. */
export const withPauses = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.timed(effect), ([took, result]) => Effect.as(Effect.sleep(took), result))

/** Repeats a step that handles some rows at a time, with a rest after each, until none are left. */
export const repeatUntilEmpty = <E, R>(some: Effect.Effect<number, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(withPauses(some), (count) => (count > 0 ? repeatUntilEmpty(some) : Effect.void))
