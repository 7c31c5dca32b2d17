import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"

/** For how long outcomes are kept by five minutes. After that they are kept by the hour. */
export const FINE_OUTCOMES_DAYS = 2

/** How many rows one statement merges or deletes. */
const BATCH_SIZE = 5000

/** Keeps the outcomes of deliveries, which `write_progress` and `recover` count, and the trends of failures. */
export class DeliveryOutcomes extends Context.Service<DeliveryOutcomes>()("postgres/deliveries/DeliveryOutcomes", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    return {
      /** Merges some outcomes that are older than `FINE_OUTCOMES_DAYS` by the hour; returns how many rows, 0 when all is done. */
      merge: sql<{ merged: number }>`select merge_outcomes(plausible_now(), ${BATCH_SIZE}::int) as merged`.pipe(
        Effect.map((rows) => rows[0]!.merged),
        orDieAs("DeliveryOutcomes.merge"),
      ),

      /** Forgets some outcomes that are older than so many days; returns how many rows, 0 when all is done. */
      forget: Effect.fn("DeliveryOutcomes.forget")(function* (days: number) {
        const rows = yield* sql<{ forgotten: number }>`
          with old as materialized (
            select ctid as row_ctid from delivery_outcomes
            where seconds = 3600 and at < plausible_now() - make_interval(days => ${days}::int) and not is_doubtful(at)
            order by at limit ${BATCH_SIZE}::int for update skip locked
          ), forgotten as (
            delete from delivery_outcomes where ctid = any (array(select row_ctid from old)) returning 1
          )
          select count(*)::int as forgotten from forgotten`
        return rows[0]!.forgotten
      }, orDieAs("DeliveryOutcomes.forget")),

      /** Forgets the hours of the trends of failures that are older than so many days. */
      forgetTrends: Effect.fn("DeliveryOutcomes.forgetTrends")(
        (days: number) => sql`
          delete from failure_group_hours
          where hour < plausible_now() - make_interval(days => ${days}::int) and not is_doubtful(hour)`,
        Effect.asVoid,
        orDieAs("DeliveryOutcomes.forgetTrends"),
      ),
    }
  }),
}) {
  static readonly layer = Layer.effect(DeliveryOutcomes, DeliveryOutcomes.make)
}
