import { setTimeout } from "node:timers/promises"
import type { Postgres } from "@outreach/embedded-postgres/startPostgres"
import { type Standby, setSynchronousStandbys } from "@outreach/embedded-postgres/startStandby"
import { type Cluster, type Outcome, readInFlight, type Scenario } from "./runScenario.ts"
import { query } from "./startCluster.ts"

/** How long things may take at most. */
interface Limits {
  /** Within a number of seconds after the address leads to another primary, everything works again. */
  readonly backSeconds: number
  /** So long a request may wait for its response. */
  readonly waitSeconds: number
}
const LIMITS: Limits = { backSeconds: 20, waitSeconds: 10 }
/** On a machine that others keep busy. */
export const WHENEVER: Limits = { backSeconds: Number.POSITIVE_INFINITY, waitSeconds: Number.POSITIVE_INFINITY }
/** How long a monitor of the database takes to decide that the primary is lost. */
const DETECTION_MS = 2000
const CUT_OFF_MS = 3000
/** Longer than a statement waits for its commit, so that partners send again what was not acknowledged. */
const COMMITS_WAIT_MS = 15_000
/** How long the API hears nothing from a database that hears it. */
const DEAF_MS = 20_000
/** How long the first promoted server lives. */
const BETWEEN_FAILOVERS_MS = 15_000
const GONE_MS = 120_000
const KEY_LIMIT = 100

/** Promotes a standby, and lets the address lead to it. */
const moveTo = async (cluster: Cluster, name: string, failedAt: number, open: "mute" | "reset") => {
  await cluster.follower(name).standby.promote()
  return await moved(cluster, name, failedAt, open)
}

/** Lets the address lead to a promoted standby. */
const moved = async ({ address, follower }: Cluster, name: string, failedAt: number, open: "mute" | "reset") => {
  const { standby } = follower(name)
  const inFlight = await readInFlight(standby.url)
  address.moveTo(standby.port, open)
  return { failedAt, movedAt: performance.now(), url: standby.url, inFlight }
}

/** Returns standbys in the order of what they have received, as a failover manager does. */
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

/** Lets a standby replicate another primary. */
const follow = async (standby: Standby, primary: Postgres, name: string) => {
  const { username, password } = new URL(primary.url)
  const source = `host=127.0.0.1 port=${primary.port} user=${username} password=${password} application_name=${name}`
  await query(standby.url, `alter system set primary_conninfo = '${source}'`)
  // Its slot is at the server that is lost.
  await query(standby.url, "alter system set primary_slot_name = ''")
  await query(standby.url, "select pg_reload_conf()")
}

/** The primary is killed, and its synchronous standby is promoted. */
export const killed: Scenario = {
  title: "a synchronous standby, the primary killed",
  cluster: { standbys: [{ name: "s1" }], synchronous: "s1" },
  strike: async (cluster) => {
    const failedAt = performance.now()
    await cluster.primary.kill()
    await setTimeout(DETECTION_MS)
    return await moveTo(cluster, "s1", failedAt, "reset")
  },
}

/** Packets to the primary are dropped: no connection is closed, and none is refused or accepted. */
export const dropped: Scenario = {
  title: "a synchronous standby, the packets to the primary dropped",
  cluster: { standbys: [{ name: "s1" }], synchronous: "s1" },
  strike: async (cluster) => {
    const failedAt = performance.now()
    await cluster.address.drop()
    await setTimeout(DETECTION_MS)
    // The failover manager keeps a primary from going on that others do not see.
    await cluster.primary.kill()
    const fault = await moveTo(cluster, "s1", failedAt, "mute")
    await cluster.address.pickUp()
    return fault
  },
}

/** The API hears nothing from the database, which hears it; the workers and operators notice nothing. */
export const halfOpen: Scenario = {
  title: `the API hears nothing from the database for ${DEAF_MS / 1000} s, and the workers do`,
  cluster: { standbys: [], synchronous: "" },
  settings: ({ primary }) => ({ DATABASE_URL: primary.url }),
  apiSettings: ({ url }) => ({ DATABASE_URL: url }),
  strike: async ({ address, primary }) => {
    const failedAt = performance.now()
    address.deafen()
    await setTimeout(DEAF_MS)
    address.heal()
    return { failedAt, movedAt: performance.now(), url: primary.url, inFlight: await readInFlight(primary.url) }
  },
}

/** The primary is killed, and then the standby that was promoted, whose place the other standby takes. */
export const twice: Scenario = {
  title: `two standbys with ANY 1, the primary killed, and the promoted standby ${BETWEEN_FAILOVERS_MS / 1000} s later`,
  cluster: { standbys: [{ name: "s1" }, { name: "s2" }], synchronous: "ANY 1 (s1, s2)" },
  strike: async (cluster) => {
    await cluster.primary.kill()
    await setTimeout(DETECTION_MS)
    const [next, last] = await furthestFirst(cluster, ["s1", "s2"])
    const { standby: first } = cluster.follower(next)
    await first.promote()
    await follow(cluster.follower(last).standby, first, last)
    await setSynchronousStandbys(first.url, last)
    const { inFlight } = await moved(cluster, next, performance.now(), "reset")
    await setTimeout(BETWEEN_FAILOVERS_MS)
    const failedAt = performance.now()
    await first.kill()
    await setTimeout(DETECTION_MS)
    const fault = await moveTo(cluster, last, failedAt, "reset")
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

/** Both hosts of the database lose their power, and start again. */
export const gone: Scenario = {
  title: `a primary and its synchronous standby gone for ${GONE_MS / 1000} s`,
  cluster: { standbys: [{ name: "s1" }], synchronous: "s1" },
  strike: async ({ address, primary, follower }) => {
    const { standby } = follower("s1")
    const failedAt = performance.now()
    await Promise.all([address.drop(), primary.kill(), standby.kill()])
    await setTimeout(GONE_MS)
    await Promise.all([primary.restart(), standby.restart()])
    address.moveTo(primary.port, "reset")
    await address.pickUp()
    return { failedAt, movedAt: performance.now(), url: primary.url, inFlight: await readInFlight(primary.url) }
  },
}

/** Nothing comes back from the primary any more, and no connection is closed. */
export const mute: Scenario = {
  title: "a synchronous standby, the primary mute",
  cluster: { standbys: [{ name: "s1" }], synchronous: "s1" },
  strike: async (cluster) => {
    const failedAt = performance.now()
    cluster.address.mute()
    await setTimeout(DETECTION_MS)
    return await moveTo(cluster, "s1", failedAt, "mute")
  },
}

/** The primary is killed when its asynchronous standby, whose clock is behind, has been cut off for some seconds. */
export const lagging = (
  libfaketime: string,
  clockBehindSeconds: number,
  settings: Readonly<Record<string, string>> = {},
): Scenario => ({
  title: [
    `an asynchronous standby, cut off for ${CUT_OFF_MS / 1000} s and its clock ${clockBehindSeconds} s behind, the primary killed`,
    ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
  ].join(", "),
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
  settings: () => settings,
  strike: async (cluster) => {
    cluster.follower("s1").link.cut()
    await setTimeout(CUT_OFF_MS)
    const failedAt = performance.now()
    await cluster.primary.kill()
    return await moveTo(cluster, "s1", failedAt, "reset")
  },
})

/** The processes know both servers, and no address moves. */
export const severalHosts: Scenario = {
  title: "both servers in DATABASE_URL instead of an address that moves, the primary killed",
  cluster: { standbys: [{ name: "s1" }], synchronous: "s1" },
  settings: ({ primary, follower }) => {
    const url = new URL(primary.url)
    const hosts = [primary.port, follower("s1").standby.port].map((port) => `127.0.0.1:${port}`).join()
    const address = `postgres://${url.username}:${url.password}@${hosts}${url.pathname}`
    return { DATABASE_URL: `${address}?target_session_attrs=read-write` }
  },
  strike: killed.strike,
}

/** How far the standby that is read from may be behind, and how far it is. */
const READ_MAX_LAG_SECONDS = 8
const APPLY_DELAY_SECONDS = 5

/** Reads go to a standby that is behind, and that then stands still. */
export const readingBehind: Scenario = {
  title: `reads from a standby that is ${APPLY_DELAY_SECONDS} s behind and then stands still`,
  cluster: {
    standbys: [{ name: "s1", settings: { recovery_min_apply_delay: `${APPLY_DELAY_SECONDS}s` } }],
    synchronous: "",
  },
  settings: ({ follower }) => ({
    DATABASE_READ_URL: follower("s1").standby.url,
    READ_MAX_LAG_SECONDS: String(READ_MAX_LAG_SECONDS),
  }),
  strike: async ({ primary, follower }) => {
    const { standby } = follower("s1")
    const failedAt = performance.now()
    await query(standby.url, "select pg_wal_replay_pause()")
    await setTimeout(2 * READ_MAX_LAG_SECONDS * 1000)
    await query(standby.url, "select pg_wal_replay_resume()")
    return { failedAt, movedAt: performance.now(), url: primary.url, inFlight: await readInFlight(primary.url) }
  },
}

/** How far behind the standby is that is read from and then promoted. */
const PROMOTED_DELAY_SECONDS = 30

/** The standby that is read from, which has all that was committed and replays it late, takes the place of the primary. */
export const readingPromoted: Scenario = {
  title: `reads from a synchronous standby that is ${PROMOTED_DELAY_SECONDS} s behind, the primary killed and that standby promoted`,
  cluster: {
    standbys: [{ name: "s1", settings: { recovery_min_apply_delay: `${PROMOTED_DELAY_SECONDS}s` } }],
    synchronous: "s1",
  },
  settings: ({ follower }) => ({
    DATABASE_READ_URL: follower("s1").standby.url,
    READ_MAX_LAG_SECONDS: String(2 * PROMOTED_DELAY_SECONDS),
  }),
  strike: async (cluster) => {
    // Until it has replayed something of the load that can be read.
    await setTimeout(1.5 * PROMOTED_DELAY_SECONDS * 1000)
    return await killed.strike(cluster)
  },
}

/** One of two standbys is lost, of which any one must have each commit. */
export const oneOfTwo: Scenario = {
  title: "two standbys with ANY 1, one of them killed",
  cluster: { standbys: [{ name: "s1" }, { name: "s2" }], synchronous: "ANY 1 (s1, s2)" },
  strike: async ({ follower, primary }) => {
    const failedAt = performance.now()
    await follower("s1").standby.kill()
    return { failedAt, movedAt: failedAt, url: primary.url, inFlight: await readInFlight(primary.url) }
  },
}

/** The only synchronous standby is cut off, so that commits wait in vain, and is promoted when the primary is killed at last. */
export const waiting: Scenario = {
  title: `the only synchronous standby cut off for ${COMMITS_WAIT_MS / 1000} s, then the primary killed`,
  cluster: { standbys: [{ name: "s1" }], synchronous: "s1" },
  strike: async (cluster) => {
    const failedAt = performance.now()
    cluster.follower("s1").link.cut()
    await setTimeout(COMMITS_WAIT_MS)
    await cluster.primary.kill()
    return await moveTo(cluster, "s1", failedAt, "reset")
  },
}

/** Lists the promises of every failover that a run broke: the service comes back, nothing stays behind and no event is missed. */
const brokenByAny = (outcome: Outcome, { backSeconds, waitSeconds }: Limits): ReadonlyArray<string> => [
  ...Object.entries(outcome.longestWait)
    .filter(([, seconds]) => seconds > waitSeconds)
    .map(([what, seconds]) => `a request of ${what} waited ${seconds} s`),
  ...Object.entries(outcome.unfinished)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what} were not finished`),
  ...Object.entries(outcome.out).flatMap(([role, back]) => {
    if (back === null) return [`${role} did not come back`]
    return back.sinceMove > backSeconds ? [`${role} came back after ${back.sinceMove} s`] : []
  }),
  ...isZero({
    "events below a poller's checkpoint were never seen": outcome.events.unseen,
    "recipients got no e-mail": outcome.mail.missed,
    "recipients were not found that had been announced": outcome.lookups.notFound,
  }),
]

/** Lists the promises of failovers to a synchronous standby that a run broke. */
export const brokenBySynchronous = (outcome: Outcome, limits = LIMITS, failovers = 1): ReadonlyArray<string> => [
  ...brokenByAny(outcome, limits),
  ...isZero({
    "acknowledged inbound events were lost": outcome.inbound.lost,
    "imported recipients were lost": outcome.imports.lost,
    "clicks were lost": outcome.clicks.lost,
    "events that pollers had seen were lost": outcome.events.lost,
    "events that pollers had seen were not in the whole feed": outcome.walks.missed,
    "webhooks were repeated that were not in flight": outcome.webhooks.repeatedThoughNotInFlight,
    "e-mails were repeated that were not in flight": outcome.mail.twiceThoughNotInFlight,
  }),
  ...brokenRates(outcome, 1 + failovers),
]

/** Lists the promises of a failover to an asynchronous standby that a run broke. What the database itself lost is told, and no promise. */
export const brokenByAsynchronous = (outcome: Outcome, limits = LIMITS): ReadonlyArray<string> => [
  ...brokenByAny(outcome, limits),
  ...brokenRates(outcome, 2),
]

/** Lists the promises of two failovers within a minute that a run broke. */
export const brokenByTwo = (outcome: Outcome, limits = LIMITS): ReadonlyArray<string> => [
  ...brokenBySynchronous(outcome, limits, 2),
  // One fence is `CLOCK_SKEW_SECONDS`, 60, and a second more for the one before it.
  ...(outcome.clockAhead > 62 ? [`stamps were ${outcome.clockAhead} s ahead of the clock`] : []),
]

/** Lists the promises that a run broke in which the standby was promoted that was read from. */
export const brokenByReadingPromoted = (outcome: Outcome): ReadonlyArray<string> => [
  ...brokenBySynchronous(outcome),
  ...(outcome.standbyReads === 0 ? ["nothing was read from the standby"] : []),
]

/** Lists the promises that a run broke in which a standby was read from that was behind. */
export const brokenByReading = (outcome: Outcome): ReadonlyArray<string> => [
  ...brokenBySynchronous(outcome),
  ...brokenRates(outcome, 1),
  ...Object.entries(outcome.failures).map(([what, count]) => `${what} happened ${count} times`),
  ...(outcome.staleness.most > READ_MAX_LAG_SECONDS ? [`an event was seen ${outcome.staleness.most} s late`] : []),
  ...(outcome.standbyReads === 0 ? ["nothing was read from the standby"] : []),
]

/** Lists the promises that a run broke in which nothing should have waited. */
export const brokenByWaiting = (outcome: Outcome): ReadonlyArray<string> => [
  ...brokenBySynchronous(outcome),
  ...brokenRates(outcome, 1),
  ...Object.entries(outcome.failures).map(([what, count]) => `${what} happened ${count} times`),
  ...Object.entries(outcome.slowest)
    .filter(([, seconds]) => seconds > 2)
    .map(([role, seconds]) => `${role} took ${seconds} s once`),
]

// A promoted server does not have the windows of its primary, so one of them may begin afresh.
const brokenRates = ({ mostInOneWindow }: Outcome, windows: number): ReadonlyArray<string> =>
  mostInOneWindow > windows * KEY_LIMIT ? [`a key was allowed ${mostInOneWindow} requests in a window`] : []

const isZero = (counts: Readonly<Record<string, number>>): ReadonlyArray<string> =>
  Object.entries(counts)
    .filter(([, count]) => count !== 0)
    .map(([what, count]) => `${count} ${what}`)
