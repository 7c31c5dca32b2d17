import { inTransaction } from "@outreach/testing/inTransaction"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"

/** Runs an effect in a transaction that only allows nested loop joins: they run an inner subselect again for each outer row. */
export const withRescans = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const settings = ["hashjoin", "mergejoin", "material", "memoize", "hashagg", "sort"]
  const set = sql`select set_config('enable_' || name, 'off', true) from unnest(${settings}::text[]) as name`
  return yield* inTransaction(Effect.andThen(set, effect))
})
