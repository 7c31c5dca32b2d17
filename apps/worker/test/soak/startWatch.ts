import { setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

interface Held {
  readonly id: string
  readonly token: string
  readonly attempts: number
  readonly lost: number
}

/** How many calls there may be to one endpoint: the default of `WEBHOOK_CALLS_PER_ENDPOINT`. */
const PER_ENDPOINT = 16

/**
 * Watches what was in flight when a worker died: within a time every lease of then is over, and what was lost is being sent again, unless
 * its endpoint is only probed, or has as many calls as it may, counting those of workers that died later.
 */
export const startWatch = (options: {
  readonly run: <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) => Promise<A>
  readonly withinMs: number
}) => {
  const { run, withinMs } = options
  const watches: Array<Promise<void>> = []
  const findings: string[] = []
  const seconds: number[] = []
  let unjudged = 0
  let outages = 0
  let away = 0

  const inFlight = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return yield* sql<Held>`
      select id, lease_token::text as token, attempts, lost_leases as lost from deliveries where lease_until is not null`
  })
  const stuck = Effect.fnUntraced(function* (then: ReadonlyArray<Held>) {
    const sql = yield* SqlClient.SqlClient
    return yield* sql<{ id: string }>`
      with held as (select * from jsonb_to_recordset(${JSON.stringify(then)}::jsonb) as held (id text, token uuid, attempts int, lost int))
      select id from held join deliveries delivery using (id)
      where lease_token = token
        or lease_token is null and lost_leases = lost + 1 and delivery.attempts = held.attempts
          and not exists (select from endpoint_breakers breaker where breaker.endpoint_id = delivery.endpoint_id)
          and (
            select count(*) from deliveries flying
            where flying.endpoint_id = delivery.endpoint_id and flying.lease_until >= clock_timestamp()
          ) < ${PER_ENDPOINT}::int`
  })

  const follow = async () => {
    const [diedAt, outagesThen] = [performance.now(), outages]
    const then = await run(inFlight)
    while (true) {
      const still = await run(stuck(then))
      const passed = performance.now() - diedAt
      if (outages > outagesThen || away > 0) {
        unjudged += 1
        return
      }
      if (still.length === 0) {
        if (then.length > 0) seconds.push(passed / 1000)
        return
      }
      if (passed > withinMs) {
        findings.push(
          `${still.length} of ${then.length} in flight were not being sent again ${Math.round(passed)} ms after a worker died`,
        )
        return
      }
      await setTimeout(100)
    }
  }

  return {
    workerDied: () => {
      watches.push(follow())
    },
    /** Runs what takes the database away: no recovery is judged that it falls into. */
    duringOutage: async (outage: () => Promise<unknown>) => {
      outages += 1
      away += 1
      await outage()
      away -= 1
    },
    end: async () => {
      await Promise.all(watches)
      return { findings, seconds, unjudged }
    },
  }
}
