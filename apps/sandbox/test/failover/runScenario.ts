import { setTimeout } from "node:timers/promises"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { reservePort } from "@outreach/testing/reservePort"
import { artifactIn } from "../artifact.ts"
import { type AtEnd, type ClusterOptions, query, startCluster } from "./startCluster.ts"
import { type Load, startLoad } from "./startLoad.ts"
import { watchRoles, watchWorker } from "./watchRoles.ts"

const KEY = Buffer.alloc(32, 7).toString("base64")
/** How long a role may need in a run before the run goes on without it. */
const GIVEN_UP_MS = 60_000
/** A run whose load lasts so long also waits for the leases of e-mails, which end after 100 s. */
const LONG_SECONDS = 60
const LEASE_MS = 120_000
const SENDING_MS = 30_000
/** How long an operator waits for a command before repeating it. */
const COMMAND_MS = 45_000

export type Cluster = Awaited<ReturnType<typeof startCluster>>

/** What happens to the database, and when. */
interface Fault {
  readonly failedAt: number
  /** When the database could be reached again at its address. */
  readonly movedAt: number
  /** The address of the server that is the primary from now on. */
  readonly url: string
  /** What was under way, as the promoted server knew: these may come twice. */
  readonly inFlight: { readonly events: ReadonlySet<string>; readonly addresses: ReadonlySet<string> }
}

export interface Scenario {
  readonly title: string
  readonly cluster: ClusterOptions
  /** Settings of the processes, beside those that each run has. */
  readonly settings?: (cluster: Cluster) => Readonly<Record<string, string>>
  /** Settings of the processes of the API alone. */
  readonly apiSettings?: (cluster: Cluster) => Readonly<Record<string, string>>
  readonly strike: (cluster: Cluster) => Promise<Fault>
}

export interface RunOptions {
  /** The folder of the artifact, for the files of `ops`. */
  readonly folder: string
  /** How many processes of the API run, and how many workers. */
  readonly processes: number
  /** For how long the load lasts at least. */
  readonly seconds: number
}

/** The outcome of a run. All counts are of distinct things. */
export type Outcome = Awaited<ReturnType<typeof runScenario>>

/** Puts load on the service, strikes the database, and compares what everyone was told with what the database holds at the end. */
export const runScenario = async (scenario: Scenario, { folder, processes, seconds }: RunOptions) => {
  const prepared = performance.now()
  await using resources = new AsyncDisposableStack()
  const atEnd: AtEnd = (end) => resources.defer(end)
  const cluster = await startCluster(scenario.cluster, atEnd)
  const mail = await mailServer(undefined, undefined, atEnd)
  const settings = () => ({
    DATABASE_URL: cluster.url,
    SECRETS_KEY: KEY,
    CURSOR_KEY: KEY,
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
    SHUTDOWN_DELAY_SECONDS: "0",
    PORT: "0",
    SMTP_URL: mail.url,
    MAIL_FROM: "outreach@acme.test",
    FAILOVER_SECONDS: "120",
    ...scenario.settings?.(cluster),
  })
  const service = artifactIn(folder, settings, { atEnd, commandMs: COMMAND_MS })
  await service.ops("migrate")
  const each = Array.from({ length: processes }, (_, n) => n + 1)
  const roles = watchRoles()
  const over = new AbortController()
  const start = async (name: "api" | "worker", message: string) => {
    const adminPort = await reservePort()
    const own = { ADMIN_PORT: String(adminPort), ...(name === "api" && scenario.apiSettings?.(cluster)) }
    return { adminPort, ...(await service.start(name, message, own)) }
  }
  const apis = await Promise.all(each.map(() => start("api", "listening")))
  const workers = await Promise.all(each.map(() => start("worker", "worker started")))
  const watching = Promise.all(
    workers.map(({ adminPort }, n) => watchWorker(`worker ${n + 1}`, adminPort, roles, over.signal)),
  )
  atEnd(async () => {
    over.abort()
    await watching
  })
  const apiUrls = apis.map(({ annotations }) => annotations.url as string)
  const load = await startLoad({ service, apiUrls, mail, seconds, folder, roles, atEnd })

  const began = performance.now()
  await eventually(load.progress, (counts) => counts.every((count) => count >= 20))
  await eventually(
    () => performance.now() - began,
    (passed) => passed > (seconds / 3) * 1000,
    seconds * 1000,
  )
  const busy = roles.roles()
  const { failedAt, movedAt, url, inFlight } = await scenario.strike(cluster)
  await load.scheduleLater()
  const isBack = () => busy.map((role) => roles.backAt(role, movedAt))
  await eventually(isBack, (moments) => moments.every((at) => at !== undefined), GIVEN_UP_MS).catch(() => {})
  const [clocks] = await query<{ ahead: number }>(
    url,
    "select max(extract(epoch from last - clock_timestamp()))::float8 as ahead from organization_clock",
  )
  await eventually(
    () => performance.now() - began,
    (passed) => passed > seconds * 1000,
    seconds * 1000,
  )
  const stoppedAt = performance.now()
  await load.stop()
  const sum = (pattern: RegExp) =>
    sumOf(
      apis.map(({ adminPort }) => adminPort),
      pattern,
    )
  const queuedHits = () => sum(/^outreach_hits_queued(?:\{.*\})? (\d+)/m)
  const { unfinished, leased } = await drain(url, load, mail.messages, {
    leaseMs: seconds < LONG_SECONDS ? SENDING_MS : LEASE_MS,
    queuedHits,
  })

  // What is published from now on, such as an e-mail that was accepted last, need not have been delivered.
  const known = await readDatabase(url)
  await readOn(load)
  const copies = countBy(mail.messages.map(({ to }) => to[0]!))
  const repeated = [...load.partner.requests].filter(([, count]) => count > 1).map(([id]) => id)
  const twice = [...copies].filter(([, count]) => count > 1).map(([address]) => address)
  const clickers = new Set(mail.messages.slice(0, load.clicked()).map(({ to }) => to[0]!))
  const published = new Set(known.events.map(({ id }) => id))
  const missing = (all: Iterable<string>, held: { has(id: string): boolean }) =>
    [...all].filter((id) => !held.has(id)).length
  return {
    /** How long it took to prepare the run, how long the load lasted, and the rest. */
    seconds: [began - prepared, stoppedAt - began, performance.now() - stoppedAt].map(inSeconds),
    /** What did not come to its end after the load had ended. */
    unfinished,
    inbound: { acknowledged: load.acknowledged.size, lost: missing(load.acknowledged, known.inbox) },
    imports: { acknowledged: load.imported.length, lost: missing(load.imported, known.recipients) },
    events: {
      published: published.size,
      /** Those that a poller saw and that no longer exist. */
      lost: missing(new Set(load.pollers.flatMap(({ seen }) => [...seen.keys()])), published),
      /** Those that some poller never saw though it has polled to the end. */
      unseen: Math.max(...load.pollers.map(({ seen }) => missing(published, seen))),
    },
    webhooks: {
      delivered: load.partner.delivered.size,
      repeated: repeated.length,
      repeatedThoughNotInFlight: missing(repeated, inFlight.events),
    },
    mail: {
      recipients: load.recipients,
      missed: unfinished.mails,
      /** Those whose message a worker had claimed without learning of it: it is sent when its lease ends. */
      leased,
      twice: twice.length,
      twiceThoughNotInFlight: missing(twice, inFlight.addresses),
    },
    clicks: { answered: clickers.size, lost: missing(clickers, known.clickers) },
    /** Of recipients that a webhook had announced. */
    lookups: load.lookups,
    /** Of the whole feed, and the most events that one of them lacked. */
    walks: load.walks,
    /** How many responses came from a standby. */
    standbyReads: await sum(/^outreach_standby_reads_total\{.*result="standby".*\} (\d+)/m),
    /** After how many seconds a poller saw an event. */
    staleness: quantiles(load.pollers.flatMap(({ delays }) => delays)),
    /** The most requests that one key was allowed in one window, over all processes. */
    mostInOneWindow: Math.max(...load.windows.values()),
    failures: Object.fromEntries([...roles.failures].sort()),
    /** Seconds without each role, since the fault and since the address had moved; null for a role that never came back. */
    out: Object.fromEntries(
      busy.map((role) => {
        const at = roles.backAt(role, movedAt)
        return [
          role,
          at === undefined ? null : { sinceFault: inSeconds(at - failedAt), sinceMove: inSeconds(at - movedAt) },
        ]
      }),
    ),
    /** How far the clock of an organization was ahead of the database's, in seconds, when all was back. */
    clockAhead: Math.round(Math.max(0, clocks!.ahead)),
    /** The most seconds that a request waited for its response or its failure, by kind, over the whole run. */
    longestWait: Object.fromEntries([...roles.waits].sort().map(([what, millis]) => [what, inSeconds(millis)])),
    /** The longest time in seconds that something which succeeded after the fault had taken. */
    slowest: Object.fromEntries(
      busy
        .filter((role) => /writes|reads/.test(role))
        .map((role) => [role, inSeconds(roles.longest(role, failedAt, stoppedAt))]),
    ),
  }
}

const inSeconds = (millis: number): number => Math.round(millis / 100) / 10

const quantiles = (millis: ReadonlyArray<number>) => {
  const sorted = millis.toSorted((a, b) => a - b)
  return { median: inSeconds(sorted[sorted.length >> 1] ?? 0), most: inSeconds(sorted.at(-1) ?? 0) }
}

const countBy = (all: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const each of all) counts.set(each, (counts.get(each) ?? 0) + 1)
  return counts
}

/** Lets the service finish what it has to do. Returns what is left at the end, and the e-mails that are leased still after `leaseMs`. */
const drain = async (
  url: string,
  load: Load,
  messages: ReadonlyArray<{ readonly to: ReadonlyArray<string> }>,
  options: { readonly leaseMs: number; readonly queuedHits: () => Promise<number> },
) => {
  const { leaseMs, queuedHits } = options
  const left = async () => {
    const [row] = await query<{ inbox: number; events: Array<string>; leased: Array<string> }>(
      url,
      `select (select count(*) from inbox where applied_at is null and quarantined_at is null)::int as inbox,
         (select coalesce(array_agg(id), '{}') from events) as events,
         (select coalesce(array_agg(email), '{}') from messages join recipients recipient
            on (recipient.organization_id, recipient.id) = (messages.organization_id, recipient_id)
          where lease_until > clock_timestamp()) as leased`,
    )
    const mailed = new Set(messages.map(({ to }) => to[0]!))
    const leased = row!.leased.filter((address) => !mailed.has(address)).length
    return {
      leased,
      unfinished: {
        inbox: row!.inbox,
        hits: await queuedHits(),
        webhooks: row!.events.filter((id) => !load.partner.delivered.has(id)).length,
        mails: load.recipients - mailed.size - leased,
      },
    }
  }
  const isDone = ({ unfinished }: Awaited<ReturnType<typeof left>>) =>
    Object.values(unfinished).every((count) => count === 0)
  // A message that a worker is sending is leased, too, so leases are given time to end.
  return await eventually(left, (now) => isDone(now) && now.leased === 0, leaseMs)
    .catch(() => eventually(left, isDone, GIVEN_UP_MS))
    .catch(left)
}

/** Lets the pollers read to the end. A poller that cannot read has not seen the rest. */
const readOn = async ({ pollers }: Load) => {
  await Promise.all(
    pollers.map(({ catchUp }) => {
      // A key that has used up its window waits for the next one.
      const isAtEnd = () =>
        catchUp().then(
          () => true,
          () => setTimeout(1000, false),
        )
      return eventually(isAtEnd, Boolean, 75_000).catch(() => {})
    }),
  )
}

/** Reads what the database holds. */
const readDatabase = async (url: string) => {
  const ids = async (text: string) => new Set((await query<{ id: string }>(url, text)).map(({ id }) => id))
  return {
    inbox: await ids("select event_id as id from inbox"),
    recipients: await ids("select email as id from recipients"),
    events: await query<{ id: string }>(url, "select id from events where type <> 'outreach.recipients_published'"),
    // A click on a message whose acceptance is not on record yet becomes an event a minute later, so the hits count.
    clickers: await ids("select email as id from recipients where id in (select recipient_id from hits)"),
  }
}

/** Sums what a metric counts over several processes. */
const sumOf = async (adminPorts: ReadonlyArray<number>, pattern: RegExp): Promise<number> => {
  const counts = await Promise.all(
    adminPorts.map(async (port) => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      return Number(pattern.exec(text)?.[1] ?? 0)
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Reads what is under way on a server. */
export const readInFlight = async (url: string): Promise<Fault["inFlight"]> => ({
  events: new Set(
    (
      await query<{ id: string }>(
        url,
        `select unnest(open) as id from reader_positions
         union select event_id from deliveries where owner is not null`,
      )
    ).map(({ id }) => id),
  ),
  addresses: new Set(
    (
      await query<{ email: string }>(
        url,
        `select email from recipients where (organization_id, id) in
           (select organization_id, recipient_id from messages where lease_token is not null)`,
      )
    ).map(({ email }) => email),
  ),
})
