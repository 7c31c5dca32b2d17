import { Effect } from "effect"

/** Runs an effect, and then rests as long as it took, which leaves the database to others for half of the time. */
export const withRest = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.timed(effect), ([took, result]) => Effect.as(Effect.sleep(took), result))
