import { setTimeout } from "node:timers/promises"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { value } from "@outreach/testing/sql"
import { Effect, ManagedRuntime, References, Schedule } from "effect"
import type { SqlClient } from "effect/sql"
import { audit } from "./audit.ts"
import { killableDatabase } from "./killableDatabase.ts"
import { type StepDeaths, startFleet } from "./startFleet.ts"
import { startRoutes } from "./startRoutes.ts"
import { startWatch } from "./startWatch.ts"

export interface SoakOptions {
  readonly events: number
  /** Number of events for each partner that never recovers: each event takes as many probes as attempts. */
  readonly hopeless: number
  /** Seconds until publishing stops. Default: never. */
  readonly seconds?: number
  readonly callSeconds: number
  readonly leaseSeconds: number
  /** Seconds between attempts. */
  readonly schedule: ReadonlyArray<number>
  /** Intervals for killing a random worker, and the database. */
  readonly workerKills?: Kills
  readonly databaseKills?: Kills
  readonly stepDeaths?: StepDeaths
  readonly progress?: (line: string) => void
}

interface Kills {
  readonly everyMs: number
  readonly most?: number
}

/** Clock error of each worker in seconds: twice the tolerance of a signature. */
const SKEWS = [-600, 0, 600]

/** Share of settled deliveries at which partners recover: failing ones have a third of all. */
const MENDED_AT = 0.6

/**
 * Publishes events to twenty partners while three workers with wrong clocks deliver them, and workers and database are killed. Then
 * waits until all deliveries are settled, and compares all views.
 */
export const soak = async (options: SoakOptions) => {
  const { seconds = Number.POSITIVE_INFINITY, callSeconds, leaseSeconds, schedule, progress = () => {} } = options
  const began = performance.now()
  await using resources = new AsyncDisposableStack()
  const database = await killableDatabase()
  resources.defer(database.remove)
  const runtime = ManagedRuntime.make(adaptersFor(database.url))
  resources.defer(() => runtime.dispose())
  const run = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>): Promise<A> =>
    runtime.runPromise(persistently(effect))

  const routes = await startRoutes((effect) => runtime.runPromise(effect), options)
  for (const { partner } of routes) resources.defer(partner.close)

  let killed = 0
  // Far longer than the next worker needs to load and take endpoints on a busy machine.
  const watch = startWatch({ run, withinMs: (leaseSeconds + 60) * 1000 })
  const fleet = startFleet({
    databaseUrl: database.url,
    settings: {
      WEBHOOK_CALL_SECONDS: String(callSeconds),
      WEBHOOK_LEASE_SECONDS: String(leaseSeconds),
      WEBHOOK_RETRY_DELAYS: schedule.map((delay) => `${delay}s`).join(),
      DRAIN_SECONDS: "1",
    },
    skews: SKEWS,
    ...(options.stepDeaths && { stepDeaths: options.stepDeaths }),
    died: () => {
      killed += 1
      watch.workerDied()
    },
  })
  resources.defer(fleet.stop)

  let over = false
  const waiting = () =>
    run(value<number>`
      select (select count(*) from deliveries)::int + coalesce(sum(cardinality(open) + ahead.count), 0)::int
      from endpoint_readers reader join reader_positions using (endpoint_id)
      cross join lateral (
        select count(*) from events
        where organization_id = reader.organization_id and (emitted_at, id) > (begun_at, begun_id)
      ) ahead`)
  const atWork = async () => {
    while (routes.every(({ partner }) => partner.seen.size === 0)) await setTimeout(20)
  }
  const every = async ({ everyMs, most = Number.POSITIVE_INFINITY }: Kills, kill: () => Promise<unknown>) => {
    await atWork()
    for (let i = 0; i < most && !over; i++) {
      await setTimeout(everyMs * (0.5 + Math.random()))
      if (!over) await kill()
    }
  }
  let outages = 0
  const publishing = (async () => {
    let waits = 0
    while (performance.now() - began < seconds * 1000) {
      let open = routes.filter(({ isPublished }) => !isPublished())
      if (open.length === 0) {
        const step = fleet.missing()
        if (step === undefined) return
        // Workers that are still to die need work, or a dead one: its successor takes its endpoints over.
        if (step === "during takeover" && waits++ % 100 === 0) await fleet.killAny()
        await setTimeout(200)
        open = routes.filter(({ partner }) => partner.kind === "fast")
      }
      for (const { publish } of open) await publish().catch(() => setTimeout(100))
    }
  })()
  const killing = Promise.all([
    options.workerKills && every(options.workerKills, fleet.killAny),
    options.databaseKills &&
      every(options.databaseKills, () =>
        watch.duringOutage(() => (outages++ % 2 === 0 ? database.restart() : run(database.killBackend))),
      ),
  ])

  await publishing
  const published = routes.reduce((sum, { published }) => sum + published.length, 0)
  let mended = false
  for (let i = 0; ; i++) {
    const left = await waiting()
    if (i % 20 === 0)
      progress(`${at(began)} ${left} left; workers killed ${killed} times, the database ${outages} times`)
    if (left === 0) break
    if (!mended && left < published * MENDED_AT) {
      mended = true
      for (const { partner, fate } of routes) if (fate === "mended") await partner.become("fast")
      progress(`${at(began)} partners that failed are mended`)
    }
    await setTimeout(250)
  }
  over = true
  await killing
  const recoveries = await watch.end()
  await fleet.stop()
  const { tally, findings } = await run(audit(routes, { maxAttempts: schedule.length + 1 }))
  return {
    seconds: (performance.now() - began) / 1000,
    published,
    tally,
    /** Number of deaths by step. */
    deaths: Object.fromEntries(fleet.deaths),
    outages,
    recoveries,
    /** Limit of additional requests: calls that were in flight, unwritten or about to start when workers died. */
    maxDuplicates: recoveries.open,
    findings: [...findings, ...recoveries.findings, ...fleet.complaints],
  }
}

const at = (began: number): string => `${Math.round((performance.now() - began) / 1000)} s:`

// The database is unavailable from time to time.
const persistently = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.timeout("20 seconds"),
    Effect.retry({ times: 100, schedule: Schedule.spaced("200 millis") }),
    Effect.provideService(References.MinimumLogLevel, "None"),
  )
