import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"

/** Days that have their partition before they begin: a worker may be away for as long. */
const DAYS_AHEAD = 7
/** What settles waits behind this, while it waits for whoever reads the history; after that it is tried again another time. */
const LOCK_TIMEOUT = "200ms"

/** The deliveries that arrived, in a partition of `delivered` for each day on which they did. */
export class DeliveryHistory extends Context.Service<DeliveryHistory>()("postgres/deliveries/DeliveryHistory", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const name = sql.literal(`to_char(day, '"delivered_"YYYY_MM_DD')`)
    const today = sql.literal(`(clock_timestamp() at time zone 'UTC')::date`)

    /** Runs in a transaction of its own, unless another process is at the partitions. */
    const alone = <E, R>(change: Effect.Effect<number, E, R>) =>
      Effect.gen(function* () {
        yield* sql`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`
        const [lock] = yield* sql<{ isOurs: boolean }>`
          select pg_try_advisory_xact_lock(hashtextextended('delivered', 0)) as "isOurs"`
        return lock!.isOurs ? yield* change : 0
      }).pipe(sql.withTransaction)

    const add = Effect.gen(function* () {
      // What came while a day had no partition is in the default one, and goes where it belongs.
      const missing = yield* sql<{ name: string; from: string; to: string }>`
        select ${name} as name, (day::timestamp at time zone 'UTC')::text as from, ((day + 1)::timestamp at time zone 'UTC')::text as to
        from (
          select ${today} + n as day from generate_series(0, ${DAYS_AHEAD}::int) n
          union
          select (finished_at at time zone 'UTC')::date from delivered_default
        ) wanted
        where to_regclass(${name}) is null
        order by day`
      // What settles meanwhile waits here, until it can see where it belongs: on its way to the default partition it would fail.
      if (missing.length > 0) yield* sql`lock table delivered in share row exclusive mode`
      for (const { name, from, to } of missing) {
        // Made apart and then attached, which leaves those alone who read the other days.
        yield* sql`create table ${sql(name)} (like delivered including all)`
        yield* sql`
          with moved as (
            delete from delivered_default where finished_at >= ${from}::timestamptz and finished_at < ${to}::timestamptz returning *
          )
          insert into ${sql(name)} select * from moved`
        yield* sql`
          alter table delivered attach partition ${sql(name)}
          for values from (${sql.literal(`'${from}'`)}) to (${sql.literal(`'${to}'`)})`
      }
      return missing.length
    })

    const drop = Effect.fnUntraced(function* (days: number) {
      const old = yield* sql<{ name: string }>`
        select relname::text as name from pg_inherits join pg_class on pg_class.oid = inhrelid
        cross join (select ${today} - ${days}::int as day) oldest
        where inhparent = 'delivered'::regclass and relname ~ '^delivered_[0-9_]{10}$' and relname::text < ${name}
        order by relname`
      for (const { name } of old) yield* sql`drop table ${sql(name)}`
      return old.length
    })

    return {
      /**
       * Creates room for today and the week to come, and forgets the days that are more than so many past, each as a whole; days are UTC.
       *
       * Several processes may do so at once: one does it, the others leave it to that one. Returns how many days came and went.
       */
      keep: Effect.fn("DeliveryHistory.keep")(function* (days: number) {
        // Apart, because who reads the history holds what one needs, and waits for what the other holds.
        return { added: yield* alone(add), dropped: yield* alone(drop(days)) }
      }, orDieAs("DeliveryHistory.keep")),
    }
  }),
}) {
  static readonly layer = Layer.effect(DeliveryHistory, DeliveryHistory.make)
}
