import { setTimeout } from "node:timers/promises"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** State of a worker's token. */
interface Holding {
  readonly token: string
  /** In microseconds since 1970. */
  readonly aliveUntil: number
  /** Number of endpoints and delivery rows of the worker. */
  readonly holds: number
  /** Calls that may have started and aren't settled. */
  readonly open: number
}

/** Watches a dead worker's endpoints and rows: other workers must take all of them within a time. */
export const startWatch = (options: {
  readonly run: <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) => Promise<A>
  readonly withinMs: number
}) => {
  const { run, withinMs } = options
  const watches: Array<Promise<void>> = []
  const findings: string[] = []
  const seconds: number[] = []
  const openAtDeath = new Map<string, number>()
  let unjudged = 0
  let outages = 0
  let away = 0

  const holdings = Effect.gen(function* () {
    return yield* sql<Holding>`
      select token::text, (extract(epoch from alive_until) * 1000000)::double precision as "aliveUntil",
        readers.count + taken.count as holds, open + taken.count as open
      from delivery_workers
      cross join lateral (
        select count(*)::int as count, coalesce(sum(cardinality(open)), 0)::int as open from endpoint_readers join reader_positions using (endpoint_id) where owner = token
      ) readers
      cross join lateral (select count(*)::int as count from deliveries where owner = token) taken`
  })

  const follow = async () => {
    const [diedAt, outagesThen] = [performance.now(), outages]
    const then = await run(holdings)
    while (true) {
      // The dead worker is the one that no longer renews its lease. Its successor on this host may have ended the lease.
      const silent = (await run(holdings)).filter(({ token, aliveUntil }) =>
        then.some((before) => before.token === token && aliveUntil <= before.aliveUntil),
      )
      const passed = performance.now() - diedAt
      for (const { token, open } of then) {
        if (silent.some((still) => still.token === token && still.holds === 0))
          openAtDeath.set(token, Math.max(open, openAtDeath.get(token) ?? 0))
      }
      const left = silent.reduce((sum, { holds }) => sum + holds, 0)
      if (left === 0) {
        if (outages > outagesThen || away > 0) unjudged += 1
        else seconds.push(passed / 1000)
        return
      }
      if (passed > withinMs) {
        findings.push(`${left} endpoints and deliveries were still a dead worker's after ${Math.round(passed)} ms`)
        return
      }
      await setTimeout(100)
    }
  }

  return {
    workerDied: () => {
      watches.push(follow())
    },
    /** Runs an outage of the database: overlapping recoveries aren't judged. */
    duringOutage: async (outage: () => Promise<unknown>) => {
      outages += 1
      away += 1
      await outage()
      away -= 1
    },
    /** Waits until all recoveries are judged. `open` is the number of announced and unsettled calls of dead workers. */
    end: async () => {
      await Promise.all(watches)
      return { findings, seconds, unjudged, open: [...openAtDeath.values()].reduce((sum, open) => sum + open, 0) }
    },
  }
}
