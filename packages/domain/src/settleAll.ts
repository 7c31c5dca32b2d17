import { Effect, Exit } from "effect"

/** Runs independent effects regardless of each other's failures. Returns their results, or fails with all failures after every effect has ended. */
export const settleAll = <A, E, R>(
  effects: Iterable<Effect.Effect<A, E, R>>,
  options?: { readonly concurrency: number },
): Effect.Effect<ReadonlyArray<A>, E, R> =>
  Effect.flatMap(Effect.forEach(effects, Effect.exit, options), (exits) =>
    Exit.map(Exit.asVoidAll(exits), () => exits.filter(Exit.isSuccess).map(({ value }) => value)),
  )
