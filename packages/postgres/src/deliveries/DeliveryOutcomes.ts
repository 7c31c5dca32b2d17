import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { dieOnDatabaseFailure } from "../adapter.ts"
import { forgetRows } from "../forgetRows.ts"
import { decodeValue } from "../rowsOf.ts"

/** For how long outcomes are kept by five minutes. After that they are kept by the hour. */
export const FINE_OUTCOMES_DAYS = 2

/** How many rows one statement merges or deletes. */
const BATCH_SIZE = 5000

const decodeCount = decodeValue({ count: Schema.Int })

/** Keeps the outcomes of deliveries, which `write_progress` and `recover` count, and the trends of failures. */
export class DeliveryOutcomes extends Context.Service<DeliveryOutcomes>()("postgres/deliveries/DeliveryOutcomes", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    return dieOnDatabaseFailure("DeliveryOutcomes", {
      /** Merges some outcomes that are older than `FINE_OUTCOMES_DAYS` by the hour; returns how many rows, 0 when all is done. */
      merge: sql`select merge_outcomes(plausible_now(), ${BATCH_SIZE}::int) as count`.pipe(decodeCount),

      /** Forgets some outcomes that are older than a number of days; returns how many rows, 0 when all is done. */
      forget: (days: number) =>
        forgetRows(sql, "delivery_outcomes", {
          key: ["endpoint_id", "at", "seconds", "organization_id"],
          where: sql`seconds = 3600 and at < plausible_now() - make_interval(days => ${days}::int) and not is_doubtful(at)`,
          orderBy: "at",
          limit: BATCH_SIZE,
        }),

      /** Forgets the hours of the trends of failures that are older than a number of days. */
      forgetTrends: (days: number) =>
        sql`
          delete from failure_group_hours
          where hour < plausible_now() - make_interval(days => ${days}::int) and not is_doubtful(hour)`.pipe(
          Effect.asVoid,
        ),
    })
  }),
}) {
  static readonly layer = Layer.effect(DeliveryOutcomes, DeliveryOutcomes.make)
}
