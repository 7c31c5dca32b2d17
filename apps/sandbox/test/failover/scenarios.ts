import { globSync } from "node:fs"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { unpackDebianPackages } from "@outreach/debian-packages/unpackDebianPackages"
import { type Cluster, type Outcome, readInFlight, type Scenario } from "./runScenario.ts"
import { query } from "./startCluster.ts"

/** Within so many seconds after the address leads to another primary, everything works again. */
const BACK_WITHIN_SECONDS = 20
/** How long a monitor of the database takes to decide that the primary is lost. */
const DETECTION_MS = 2000
const CUT_OFF_MS = 3000
/** Longer than a statement waits for its commit, so that partners send again what was not acknowledged. */
const COMMITS_WAIT_MS = 15_000
const CLOCK_BEHIND_SECONDS = 10
const KEY_LIMIT = 100

/** Promotes a standby, and lets the address lead to it. */
const moveTo = async ({ address, follower }: Cluster, name: string, failedAt: number, open: "mute" | "reset") => {
  const { standby } = follower(name)
  await standby.promote()
  const inFlight = await readInFlight(standby.url)
  address.moveTo(standby.port, open)
  return { failedAt, movedAt: performance.now(), url: standby.url, inFlight }
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
export const lagging = (libfaketime: string, settings: Readonly<Record<string, string>> = {}): Scenario => ({
  title: [
    `an asynchronous standby, cut off for ${CUT_OFF_MS / 1000} s and its clock ${CLOCK_BEHIND_SECONDS} s behind, the primary killed`,
    ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
  ].join(", "),
  cluster: {
    standbys: [
      {
        name: "s1",
        environment: {
          LD_PRELOAD: libfaketime,
          FAKETIME: `-${CLOCK_BEHIND_SECONDS}s`,
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

/** Returns the library that makes a process's clock wrong, or why there is none. */
export const findLibfaketime = async (): Promise<{ readonly library: string } | { readonly missing: string }> => {
  const found = await unpackDebianPackages(["libfaketime"], join(tmpdir(), `outreach-libfaketime-${userInfo().uid}`))
  if ("missing" in found) return found
  const [library] = globSync(join(found.folder, "usr/lib/*/faketime/libfaketime.so.1"))
  if (library === undefined) throw new Error("libfaketime brought no library")
  return { library }
}

/** Lists the promises of every failover that a run broke: the service comes back, nothing stays behind and no event is missed. */
const brokenByAny = (outcome: Outcome, withinSeconds: number): ReadonlyArray<string> => [
  ...Object.entries(outcome.unfinished)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what} were not finished`),
  ...Object.entries(outcome.out).flatMap(([role, back]) => {
    if (back === null) return [`${role} did not come back`]
    return back.sinceMove > withinSeconds ? [`${role} came back after ${back.sinceMove} s`] : []
  }),
  ...isZero({
    "events below a poller's checkpoint were never seen": outcome.events.unseen,
    "recipients got no e-mail": outcome.mail.missed,
    "recipients were not found that had been announced": outcome.lookups.notFound,
  }),
]

/** Lists the promises of a failover to a synchronous standby that a run broke. */
export const brokenBySynchronous = (outcome: Outcome, withinSeconds = BACK_WITHIN_SECONDS): ReadonlyArray<string> => [
  ...brokenByAny(outcome, withinSeconds),
  ...isZero({
    "acknowledged inbound events were lost": outcome.inbound.lost,
    "imported recipients were lost": outcome.imports.lost,
    "clicks were lost": outcome.clicks.lost,
    "events that pollers had seen were lost": outcome.events.lost,
    "events that pollers had seen were not in the whole feed": outcome.walks.missed,
    "webhooks were repeated that were not in flight": outcome.webhooks.repeatedThoughNotInFlight,
    "e-mails were repeated that were not in flight": outcome.mail.twiceThoughNotInFlight,
  }),
  ...brokenRates(outcome, 2),
]

/** Lists the promises of a failover to an asynchronous standby that a run broke. What the database itself lost is told, and no promise. */
export const brokenByAsynchronous = (outcome: Outcome, withinSeconds = BACK_WITHIN_SECONDS): ReadonlyArray<string> => [
  ...brokenByAny(outcome, withinSeconds),
  ...brokenRates(outcome, 2),
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
