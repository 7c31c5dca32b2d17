import { setTimeout } from "node:timers/promises"
import { PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { createIdentifier } from "@outreach/domain/Identifier"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { publishTogether, seedCampaign } from "@outreach/testing/seedCampaign"
import { sql, value } from "@outreach/testing/sql"
import { type NameServerReply, NXDOMAIN, SERVFAIL, startNameServer } from "@outreach/testing/startNameServer"
import { Effect, ManagedRuntime, Redacted } from "effect"
import { killableDatabase } from "./killableDatabase.ts"
import { startFleet } from "./startFleet.ts"
import { startPartner } from "./startPartner.ts"

const WORKERS = 2
const LEASE_SECONDS = 9

/** Replies of a name server for unresolvable names, worst first. */
const DEAD_NAMES: Readonly<Record<string, (name: string) => NameServerReply | undefined>> = {
  silent: () => undefined,
  endless: (name) => ({ records: [{ name, type: "CNAME", data: `a.${name}`.slice(-200), ttl: 0 }] }),
  servfail: () => ({ code: SERVFAIL }),
  nxdomain: () => ({ code: NXDOMAIN }),
}

const replyTo = (name: string, type: string, areDead: boolean): NameServerReply | undefined => {
  const [, domain = ""] = /\.(\w+)\.test$/.exec(name) ?? []
  if (domain !== "good" && areDead) return DEAD_NAMES[domain]?.(name)
  return { records: type === "A" ? [{ name, type, data: "127.0.0.1", ttl: 0 }] : [] }
}

/**
 * Starts partners that don't respond, partners that respond immediately, and two workers that deliver to all.
 *
 * With `deadNames`, the healthy partners are called by name and close each connection; an additional partner has a number of endpoints with
 * unresolvable names, and the workers resolve the database by name.
 */
export const startNeighbours = async (options: {
  readonly hanging: number
  readonly healthy: number
  readonly deadNames?: number
  readonly callSeconds: number
  /** Called for each request to a healthy partner, with the milliseconds since the publication of its event. */
  readonly arrived?: (millis: number) => void
}) => {
  const { callSeconds, deadNames = 0, arrived = () => {} } = options
  await using starting = new AsyncDisposableStack()
  const database = await killableDatabase()
  starting.defer(database.remove)
  const runtime = ManagedRuntime.make(adaptersFor(database.url))
  starting.defer(() => runtime.dispose())

  let areDead = true
  const nameServer = await startNameServer(
    (name, type) => replyTo(name, type, areDead),
    (end) => starting.defer(end),
  )
  let partners = 0
  const start = async (kind: "fast" | "closing" | "hanging") => {
    const partner = await startPartner(kind, {
      callMs: callSeconds * 1000,
      ...(kind !== "hanging" && {
        arrived: (emittedAt: number) => arrived(performance.timeOrigin + performance.now() - emittedAt),
      }),
    })
    starting.defer(partner.close)
    const endpointUrl = kind === "closing" ? partner.url.replace("127.0.0.1", `p${partners++}.good.test`) : partner.url
    const { campaign, secret } = await runtime.runPromise(seedCampaign({ recipients: 0, endpointUrl }))
    partner.trust(Redacted.value(secret))
    return { ...partner, publish: (count: number) => runtime.runPromise(publishTogether(campaign, count)) }
  }
  const startDeadNames = Effect.gen(function* () {
    const endpoints = yield* EndpointRepository
    const kinds = Object.keys(DEAD_NAMES)
    const partner = yield* Effect.promise(() => startPartner("fast", { callMs: callSeconds * 1000 }))
    starting.defer(partner.close)
    const urlOf = (i: number) =>
      PrivateEndpointUrl.make(partner.url.replace("127.0.0.1", `d${i}.${kinds[i % kinds.length]}.test`))
    const { campaign, endpoint, secret } = yield* seedCampaign({ recipients: 0, endpointUrl: urlOf(0) })
    partner.trust(Redacted.value(secret))
    const { organizationId } = campaign
    const ids = [endpoint.id]
    for (let i = 1; i < deadNames; i++) {
      const id = yield* createIdentifier("endpoint")
      yield* endpoints.create({ organizationId, id, url: urlOf(i), eventTypes: null })
      ids.push(id)
    }
    return {
      ...partner,
      ids,
      publish: (count: number) => runtime.runPromise(publishTogether(campaign, count)),
      become: async (kind: "hanging" | "fast") => {
        areDead = kind === "hanging"
      },
    }
  })
  const sick = []
  for (let i = 0; i < options.hanging; i++) sick.push(await start("hanging"))
  const dead = deadNames > 0 ? await runtime.runPromise(startDeadNames) : undefined
  const healthy = []
  for (let i = 0; i < options.healthy; i++) healthy.push(await start(dead === undefined ? "fast" : "closing"))

  const fleet = startFleet({
    // A name, which the workers resolve in the thread pool.
    databaseUrl: database.url.replace("127.0.0.1", "localhost"),
    settings: {
      DNS_SERVERS: nameServer.address,
      WEBHOOK_CALL_SECONDS: String(callSeconds),
      DRAIN_SECONDS: "0",
      WEBHOOK_LEASE_SECONDS: String(LEASE_SECONDS),
      ...(dead !== undefined && { WEBHOOK_RETRY_DELAYS: Array(12).fill("10s").join() }),
    },
    skews: Array(WORKERS).fill(0),
    died: () => {},
  })
  starting.defer(fleet.stop)
  const running = starting.move()
  return {
    sick,
    /** The partner with unresolvable names. */
    dead,
    healthy,
    /** Counts open breakers of all endpoints without dead names. */
    countOpenBreakers: () =>
      runtime.runPromise(value<number>`
        select count(*)::int from endpoint_readers where allowance is not null and endpoint_id <> all (${dead?.ids ?? []}::text[])`),
    /** Closes all database connections of the workers. Returns the seconds until each has renewed its lease. */
    reconnect: () =>
      runtime.runPromise(
        Effect.gen(function* () {
          const [ended] = yield* sql<{ at: string }>`
            select clock_timestamp()::text as at, count(pg_terminate_backend(pid)) from pg_stat_activity
            where application_name like 'outreach-worker%'`
          const said = sql<{ seconds: number }>`
            select extract(epoch from clock_timestamp() - ${ended!.at}::timestamptz)::float8 as seconds from delivery_workers
            where alive_until > ${ended!.at}::timestamptz + make_interval(secs => ${LEASE_SECONDS})`
          for (;;) {
            const rows = yield* said
            if (rows.length === WORKERS) return rows[0]!.seconds
            yield* Effect.sleep(20)
          }
        }),
      ),
    /** Waits until no delivery is queued and all breakers are closed, except those of dead names. */
    rest: async () => {
      const busy = value<boolean>`
        select exists (select from deliveries) or exists (
          select from endpoint_readers reader join reader_positions using (endpoint_id)
          where cardinality(open) > 0 or exists (
            select from events
            where organization_id = reader.organization_id and (emitted_at, id) > (begun_at, begun_id))
            or (allowance is not null and endpoint_id <> all (${dead?.ids ?? []}::text[]))
        )`
      while (await runtime.runPromise(busy)) await setTimeout(50)
    },
    stop: () => running.disposeAsync(),
  }
}
