import { setTimeout } from "node:timers/promises"
import { withClient } from "@outreach/embedded-postgres/withClient"
import { mailServer } from "@outreach/testing/mailServer"
import type { AtEnd } from "@outreach/testing/startProcess"
import { eventually } from "@outreach/testing/until"
import { type ArtifactProcess, artifactIn } from "../artifact.ts"
import { type Load, startLoad } from "../startLoad.ts"
import { Successes } from "./Successes.ts"

/** Time for the service to finish its work. */
const GIVEN_UP_MS = 60_000
/** Time after which an operator repeats a command. */
const COMMAND_MS = 45_000

export interface Scenario {
  /** URLs of the database, which the processes use in turn. The first leads to the primary, also afterwards. */
  readonly urls: ReadonlyArray<string>
  /** Additional settings of the processes. */
  readonly settings?: Readonly<Record<string, string>>
  /** Breaks the database. */
  readonly strike: (successes: Successes) => Promise<void>
}

export interface RunOptions {
  /** Folder of the artifact, for the files of `ops`. */
  readonly folder: string
  /** Number of API processes and of workers. */
  readonly processes: number
  /** Number of recipients of the campaign, which sends ten e-mails a second. */
  readonly recipients: number
  /** Time to wait for the leases of e-mails claimed by a lost worker, which expire after 100 s. */
  readonly leaseMs: number
}

/**
 * Puts load on the service, breaks the database, and compares all responses, webhooks and e-mails with the database at the end. All counts are of
 * distinct items.
 */
export const runScenario = async (
  start: (atEnd: AtEnd) => Promise<Scenario>,
  { folder, processes, recipients, leaseMs }: RunOptions,
) => {
  await using resources = new AsyncDisposableStack()
  const atEnd: AtEnd = (end) => resources.defer(end)
  const { urls, settings: others, strike } = await start(atEnd)
  const url = urls[0]!
  const mail = await mailServer({ atEnd })
  const settings = () => ({ DATABASE_URL: url, SMTP_URL: mail.url, FAILOVER_SECONDS: "120", ...others })
  const service = artifactIn(folder, settings, { atEnd, commandMs: COMMAND_MS })
  await service.ops("migrate")
  const addresses = Array.from({ length: processes }, (_, n) => ({ DATABASE_URL: urls[n % urls.length]! }))
  const apis = await Promise.all(addresses.map((address) => service.start("api", address)))
  const workers = await Promise.all(addresses.map((address) => service.start("worker", address)))
  const apiUrls = apis.map(({ url }) => url)
  const successes = new Successes(processes)
  const report = (part: string) => successes.add(part)
  const load = await startLoad({ service, apiUrls, mail, recipients, folder, report, atEnd })
  workers.forEach((worker, n) => {
    watchWorker(worker, (what) => successes.add(`${what} of worker ${n + 1}`), atEnd)
  })

  await eventually(load.progress, (counts) => counts.every((count) => count >= 20))
  await strike(successes)
  // Every process works again: the API reads and writes, and the workers claim endpoints and receive notifications.
  await Promise.all([successes.again(), load.scheduleLater()])
  const [clocks] = await query<{ ahead: number }>(
    url,
    "select max(extract(epoch from last - clock_timestamp()))::float8 as ahead from organization_clock",
  )
  await load.stop()
  const queuedHits = async () =>
    (await Promise.all(apis.map(({ adminUrl }) => readMetric(adminUrl, QUEUED_HITS)))).reduce(
      (sum, count) => sum + count,
      0,
    )
  const { unfinished, leased } = await drain(url, load, mail.messages, { leaseMs, queuedHits })

  // Later publications, such as the last accepted e-mail, may not be delivered yet.
  const known = await readDatabase(url)
  await readOn(load)
  const clickers = new Set(mail.messages.slice(0, load.clicked()).map(({ to }) => to[0]!))
  const published = new Set(known.events.map(({ id }) => id))
  const missing = (all: Iterable<string>, held: { has(id: string): boolean }) =>
    [...all].filter((id) => !held.has(id)).length
  return {
    /** Unfinished work after the load has ended. */
    unfinished,
    inbound: { acknowledged: load.acknowledged.size, lost: missing(load.acknowledged.keys(), known.inbox) },
    imports: { acknowledged: load.imported.length, lost: missing(load.imported, known.recipients) },
    events: {
      published: published.size,
      /** Events that a poller saw and that no longer exist. */
      lost: missing(new Set(load.pollers.flatMap(({ seen }) => [...seen.keys()])), published),
      /** Events that a poller missed although it polled to the end. */
      unseen: Math.max(...load.pollers.map(({ seen }) => missing(published, seen))),
    },
    webhooks: {
      delivered: load.partner.delivered.size,
      repeated: [...load.partner.requests.values()].filter((count) => count > 1).length,
    },
    mail: {
      recipients: load.recipients,
      missed: unfinished.mails,
      /** E-mails with a claim that the worker never learned of: they are sent when the lease expires. */
      leased,
      twice: mail.messages.length - new Set(mail.messages.map(({ to }) => to[0])).size,
    },
    requests: load.requests(),
    clicks: { answered: clickers.size, lost: missing(clickers, known.clickers) },
    /** How far an organization's clock was ahead of the database's at the end, in seconds. */
    clockAhead: Math.round(Math.max(0, clocks!.ahead)),
  }
}

const query = <Row extends object>(url: string, text: string) =>
  withClient(url, async (client) => (await client.query<Row>(text)).rows)

/** Lets the service finish its work. Returns the remaining work, and the e-mails still leased after `leaseMs`. */
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
  // A message being sent is leased, too, so leases have time to expire.
  return await eventually(left, (now) => isDone(now) && now.leased === 0, leaseMs)
    .catch(() => eventually(left, isDone, GIVEN_UP_MS))
    .catch(left)
}

/** Lets the pollers read to the end. A key over its limit waits for the next window. */
const readOn = ({ pollers }: Load) =>
  Promise.all(
    pollers.map(({ catchUp }) => {
      const isAtEnd = () =>
        catchUp().then(
          () => true,
          () => false,
        )
      return eventually(isAtEnd, Boolean)
    }),
  )

/** Reads the database's content. */
const readDatabase = async (url: string) => {
  const ids = async (text: string) => new Set((await query<{ id: string }>(url, text)).map(({ id }) => id))
  return {
    inbox: await ids("select event_id as id from inbox"),
    recipients: await ids("select email as id from recipients"),
    events: await query<{ id: string }>(url, "select id from events where type <> 'outreach.recipients_published'"),
    // A click on a message without recorded acceptance becomes an event a minute later, so hits count.
    clickers: await ids("select email as id from recipients where id in (select recipient_id from hits)"),
  }
}

const QUEUED_HITS = /^outreach_hits_queued(?:\{.*\})? (\d+)/m
const CLAIMS = /^outreach_delivery_claims_total\{.*result="succeeded".*\} (\d+)/m
const HINTS_HEARD = /^outreach_hints_heard_total(?:\{.*\})? (\d+)/m

const readMetric = async (adminUrl: string, pattern: RegExp): Promise<number> =>
  Number(pattern.exec(await (await fetch(`${adminUrl}/metrics`)).text())?.[1] ?? 0)

/** Reports each increase of a worker's counters. */
const watchWorker = ({ adminUrl }: ArtifactProcess, report: (what: string) => void, atEnd: AtEnd): void => {
  const over = new AbortController()
  const watch = async () => {
    const counts = { claims: 0, notifications: 0 }
    while (!over.signal.aborted) {
      for (const [what, pattern] of [
        ["claims", CLAIMS],
        ["notifications", HINTS_HEARD],
      ] as const) {
        const count = await readMetric(adminUrl, pattern)
        if (count > counts[what]) report(what)
        counts[what] = count
      }
      await setTimeout(200)
    }
  }
  const ended = watch().catch(() => {})
  atEnd(async () => {
    over.abort()
    await ended
  })
}
