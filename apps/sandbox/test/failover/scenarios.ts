import { setTimeout } from "node:timers/promises"
import type { Postgres } from "@outreach/embedded-postgres/startPostgres"
import { type Standby, setSynchronousStandbys } from "@outreach/embedded-postgres/startStandby"
import { type Cluster, type Outcome, readInFlight, type Scenario } from "./runScenario.ts"
import { query } from "./startCluster.ts"

/** Time for a database monitor to detect a lost primary. */
const DETECTION_MS = 1000
const CUT_OFF_MS = 3000
/** Lifetime of the first promoted server. */
const BETWEEN_FAILOVERS_MS = 5000

/** Promotes a standby, and moves the address to it. */
const moveTo = async (cluster: Cluster, name: string) => {
  await cluster.follower(name).standby.promote()
  return await moved(cluster, name)
}

/** Moves the address to a promoted standby. */
const moved = async ({ address, follower }: Cluster, name: string) => {
  const { standby } = follower(name)
  const inFlight = await readInFlight(standby.url)
  address.moveTo(standby.port, "reset")
  return { url: standby.url, inFlight }
}

/** Returns standbys by received WAL, most first, as a failover manager does. */
const furthestFirst = async ({ follower }: Cluster, names: readonly [string, string]) => {
  const received = await Promise.all(
    names.map(async (name) => {
      const [row] = await query<{ bytes: number }>(
        follower(name).standby.url,
        "select (pg_last_wal_receive_lsn() - '0/0')::float8 as bytes",
      )
      return row!.bytes
    }),
  )
  return received[0]! >= received[1]! ? names : ([names[1], names[0]] as const)
}

/** Makes a standby replicate another primary. */
const follow = async (standby: Standby, primary: Postgres, name: string) => {
  const { username, password } = new URL(primary.url)
  const source = `host=127.0.0.1 port=${primary.port} user=${username} password=${password} application_name=${name}`
  await query(standby.url, `alter system set primary_conninfo = '${source}'`)
  // Its replication slot is on the lost server.
  await query(standby.url, "alter system set primary_slot_name = ''")
  await query(standby.url, "select pg_reload_conf()")
}

/** The primary is killed, then the promoted standby, and the other standby is promoted. */
export const twice: Scenario = {
  cluster: { standbys: [{ name: "s1" }, { name: "s2" }], synchronous: "ANY 1 (s1, s2)" },
  strike: async (cluster) => {
    await cluster.primary.kill()
    await setTimeout(DETECTION_MS)
    const [next, last] = await furthestFirst(cluster, ["s1", "s2"])
    const { standby: first } = cluster.follower(next)
    await first.promote()
    await follow(cluster.follower(last).standby, first, last)
    await setSynchronousStandbys(first.url, last)
    const { inFlight } = await moved(cluster, next)
    await setTimeout(BETWEEN_FAILOVERS_MS)
    await first.kill()
    await setTimeout(DETECTION_MS)
    const fault = await moveTo(cluster, last)
    const both = <A>(one: ReadonlySet<A>, other: ReadonlySet<A>) => new Set([...one, ...other])
    return {
      ...fault,
      inFlight: {
        events: both(inFlight.events, fault.inFlight.events),
        addresses: both(inFlight.addresses, fault.inFlight.addresses),
      },
    }
  },
}

/** The primary is killed after its asynchronous standby, with a slow clock, was disconnected for some seconds. */
export const lagging = (
  libfaketime: string,
  clockBehindSeconds: number,
  settings: Readonly<Record<string, string>> = {},
): Scenario => ({
  cluster: {
    standbys: [
      {
        name: "s1",
        environment: {
          LD_PRELOAD: libfaketime,
          FAKETIME: `-${clockBehindSeconds}s`,
          // Only the wall clock is wrong.
          FAKETIME_DONT_FAKE_MONOTONIC: "1",
        },
      },
    ],
    synchronous: "",
  },
  settings,
  strike: async (cluster) => {
    cluster.follower("s1").link.cut()
    await setTimeout(CUT_OFF_MS)
    await cluster.primary.kill()
    return await moveTo(cluster, "s1")
  },
})

/** Returns the violated guarantees of any failover: the service finishes its work, and no event is missed. */
export const brokenByAny = (outcome: Outcome): ReadonlyArray<string> => [
  ...Object.entries(outcome.unfinished)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what} were not finished`),
  ...isZero({
    "events below a poller's checkpoint were never seen": outcome.events.unseen,
    "recipients got no e-mail": outcome.mail.missed,
  }),
]

/** Returns the violated guarantees of failovers to a synchronous standby. */
const brokenBySynchronous = (outcome: Outcome): ReadonlyArray<string> => [
  ...brokenByAny(outcome),
  ...isZero({
    "acknowledged inbound events were lost": outcome.inbound.lost,
    "imported recipients were lost": outcome.imports.lost,
    "clicks were lost": outcome.clicks.lost,
    "events that pollers had seen were lost": outcome.events.lost,
    "webhooks were repeated that were not in flight": outcome.webhooks.repeatedThoughNotInFlight,
    "e-mails were repeated that were not in flight": outcome.mail.twiceThoughNotInFlight,
  }),
]

/** Returns the violated guarantees of two failovers within a minute. */
export const brokenByTwo = (outcome: Outcome): ReadonlyArray<string> => [
  ...brokenBySynchronous(outcome),
  // One fence is `CLOCK_SKEW_SECONDS` (60), plus a second for the one before.
  ...(outcome.clockAhead > 62 ? [`stamps were ${outcome.clockAhead} s ahead of the clock`] : []),
]

const isZero = (counts: Readonly<Record<string, number>>): ReadonlyArray<string> =>
  Object.entries(counts)
    .filter(([, count]) => count !== 0)
    .map(([what, count]) => `${count} ${what}`)
