import { SCOPES } from "@outreach/contract"
import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { type Postgres, startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { type Standby, startStandby } from "@outreach/embedded-postgres/startStandby"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { inTransaction } from "@outreach/testing/inTransaction"
import { publishTogether } from "@outreach/testing/publishTogether"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { tcpProxy } from "@outreach/testing/tcpProxy"
import { asRole, migrateWithRoles } from "@outreach/testing/testRoles"
import { until } from "@outreach/testing/until"
import { Effect, type Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { ask } from "../ask.ts"
import { type RunningApi, runApi } from "../runApi.ts"
import { DOCS_URL } from "../startApi.ts"

const TOKENS = "/v1/partners/consumer/tokens"
const EVENTS = "/v1/partners/consumer/events"
const SINCE = "since=2000-01-01T00:00:00Z"
/** So long that only what a test does ends the reading from the standby. */
const PATIENT = "3600"

const started: Array<Postgres> = []
const start = async <Server extends Postgres>(starting: Promise<Server>): Promise<Server> => {
  const server = await starting
  started.push(server)
  return server
}
afterAll(async () => {
  for (const server of started.reverse()) await server.stop()
}, 60_000)

type Adapters = Layer.Success<ReturnType<typeof adaptersFor>>
const run = <A, E>(server: Postgres, effect: Effect.Effect<A, E, Adapters>): Promise<A> =>
  Effect.runPromise(Effect.provide(effect, adaptersFor(server.url)))
const query = (server: Postgres, statement: string) =>
  run(
    server,
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)),
  )

/** Starts an API that may read from a standby at a port. */
const startReader = async (
  primary: Pick<Postgres, "url">,
  standbyUrl: string,
  maxLagSeconds = PATIENT,
): Promise<RunningApi> => {
  const api = await runApi(primary.url, {
    DOCS_URL,
    DATABASE_READ_URL: asRole(standbyUrl, "api"),
    READ_MAX_LAG_SECONDS: maxLagSeconds,
  })
  onTestFinished(() => api.stop())
  return api
}

const metricsOf = async (api: RunningApi) => (await fetch(`${await api.adminUrl()}/metrics`)).text()
/** Returns how many requests came to each result of asking the standby, as changes since the last call. */
const createResultCounter = (api: RunningApi) => {
  let before: Record<string, number> = {}
  return async () => {
    const counts = Object.fromEntries(
      [...(await metricsOf(api)).matchAll(/^outreach_standby_reads_total\{result="(\w+)"\} (\d+)$/gm)].map(
        ([, result, count]) => [result!, Number(count)],
      ),
    )
    const changes = Object.entries(counts).map(([result, count]) => [result, count - (before[result] ?? 0)] as const)
    before = counts
    return Object.fromEntries(changes.filter(([, change]) => change > 0))
  }
}
/** Returns why the standby is not read from; undefined if it is. */
const faultOf = async (api: RunningApi) =>
  /^outreach_standby_fault\{reason="(\w+)"\} 1$/m.exec(await metricsOf(api))?.[1]
const untilFault = (api: RunningApi, fault: string | undefined) =>
  eventually(
    () => faultOf(api),
    (found) => found === fault,
  )
const untilRead = async (api: RunningApi) => {
  await until(api.log, "reading from the standby")
  await untilFault(api, undefined)
}
const messages = (api: RunningApi) => api.log.lines.map(({ message }) => message)

/** Creates an organization with a campaign, and a key of it. */
const seed = Effect.gen(function* () {
  const { organization, campaign, program } = yield* seedCampaign({ recipients: 6 })
  yield* publishTogether(campaign, 5)
  const { text } = yield* issueKey({ organizationId: organization.id, name: "reader", scopes: SCOPES, expiresAt: null })
  const sql = yield* SqlClient.SqlClient
  const recipients = yield* sql<{ token: string; id: string }>`
    select token, id from recipients where campaign_id = ${campaign.id} order by updated_at, id`
  return { campaign, program, key: Redacted.value(text), recipients }
})
/** Lets a recipient have bounced. */
const bounce = (campaign: Campaign, token: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const at = yield* commitTimestamp(campaign.organizationId)
    yield* sql`
      update recipients set bounced_at = ${at}::timestamptz, updated_at = ${at}::timestamptz
      where organization_id = ${campaign.organizationId} and token = ${token}`
    return at
  }).pipe(inTransaction)

describe("an API with a standby", { timeout: 120_000 }, () => {
  let primary: Postgres
  let standby: Standby
  beforeAll(async () => {
    primary = await start(startPostgres())
    await run(primary, migrateWithRoles)
    standby = await start(startStandby(primary, { name: "reads" }))
  }, 120_000)

  const pause = async () => {
    await query(standby, "select pg_wal_replay_pause()")
    onTestFinished(() => resume())
    await eventually(
      () => query(standby, "select pg_get_wal_replay_pause_state() as state"),
      (rows) => (rows[0] as { state: string }).state === "paused",
    )
  }
  const resume = async () => {
    await query(standby, "select pg_wal_replay_resume()")
  }
  /** Waits until the standby has replayed what the primary has written. */
  const untilReplayed = async (by: Postgres = standby) => {
    const [written] = await query(primary, "select pg_current_wal_insert_lsn()::text as lsn")
    await eventually(
      () => query(by, `select pg_last_wal_replay_lsn() >= '${(written as { lsn: string }).lsn}' as done`),
      (rows) => (rows[0] as { done: boolean }).done,
    )
  }

  it("reads from it what it looks up and lists, and counts requests in the primary", async () => {
    const { campaign, key, recipients } = await run(primary, seed)
    const api = await startReader(primary, standby.url)
    const results = createResultCounter(api)
    await untilRead(api)
    await untilReplayed()
    await results()
    const paths = [
      `${TOKENS}/${recipients[0]!.token}?expand[]=campaign&expand[]=program`,
      `${TOKENS}?${SINCE}&limit=5`,
      `${EVENTS}?${SINCE}&limit=4&expand[]=recipient`,
      `/v1/partners/consumer/campaigns/${campaign.id}/recipients`,
      `/v1/partners/consumer/digest?date=2026-01-01`,
    ]
    const counted = async () => {
      const sum = SqlClient.SqlClient.use(
        (sql) => sql<{ sum: number }>`select coalesce(sum(count), 0)::int as sum from rate_windows`,
      )
      return (await run(primary, sum))[0]!.sum
    }
    const before = await counted()
    for (const path of paths) expect([path, (await ask(api, path, { key })).status]).toEqual([path, 200])
    expect(await results()).toEqual({ standby: 5 })
    expect(await counted()).toBe(before + 5)
    // The primary alone knows what is being written at the end of a list.
    for (const path of [`${TOKENS}?${SINCE}`, `${EVENTS}?${SINCE}`]) {
      expect((await ask(api, path, { key })).body.has_more).toBe(false)
    }
    expect(await results()).toEqual({ last_page: 2 })
    const { headers } = await ask(api, paths[0]!, { key })
    const again = await ask(api, paths[0]!, { key, headers: { "If-None-Match": headers.get("ETag")! } })
    expect(again.status).toBe(304)
    // What is malformed, or there is not, the primary says.
    expect((await ask(api, `${TOKENS}/zzzzzz`, { key })).status).toBe(404)
    expect(await results()).toEqual({ standby: 2, not_found: 1 })
  })

  it("gives nothing older than the primary had, except rows before the end of a list", async () => {
    const { campaign, program, key, recipients } = await run(primary, seed)
    const api = await startReader(primary, standby.url)
    await untilRead(api)
    await untilReplayed()
    const results = createResultCounter(api)
    await results()
    await pause()

    const { token } = recipients[0]!
    const { headers } = await ask(api, `${TOKENS}/${token}`, { key })
    expect(await results()).toEqual({ standby: 1 })
    const bouncedAt = await run(primary, bounce(campaign, token))
    await run(primary, importLines(campaign.id, [{ number: 7, npi: npi(7), email: email(7) }]))
    const sql = `select token from recipients where campaign_id = '${campaign.id}' order by created_at desc limit 1`
    const added = ((await query(primary, sql))[0] as { token: string }).token

    // No 404 for what exists, and no record from before a webhook told of its change.
    expect((await ask(api, `${TOKENS}/${added}`, { key })).status).toBe(200)
    const bounced = await ask(api, `${TOKENS}/${token}`, { key, headers: { "If-None-Match": headers.get("ETag")! } })
    expect([bounced.status, bounced.body.bounced_at]).toEqual([200, bouncedAt])
    expect(await results()).toEqual({ not_found: 1, behind: 1 })

    // A walk reads its first pages from the standby, as they were, and its end from the primary.
    const walk = async (path: string, limit: number) => {
      const rows: Array<Record<string, string>> = []
      for (let cursor = ""; ; ) {
        const { body } = await ask(api, `${path}?${SINCE}&limit=${limit}${cursor}`, { key })
        rows.push(...body.data)
        if (body.next_cursor === null) return rows
        cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`
      }
    }
    const listed = await walk(TOKENS, 2)
    expect(listed.filter((row) => row["token"] === token).map((row) => row["bounced_at"])).toEqual([null, bouncedAt])
    expect(new Set(listed.map((row) => row["token"])).size).toBe(7)
    expect(listed).toHaveLength(8)
    expect(await results()).toEqual({ standby: 2, behind: 2 })

    // The status of a campaign is no part of the clock: whoever knows a newer one does not get the older one back.
    await resume()
    await untilReplayed()
    await pause()
    await query(
      primary,
      `update campaigns set status = 'scheduled', updated_at = clock_timestamp() where id = '${campaign.id}'`,
    )
    const path = `${TOKENS}/${token}?expand[]=campaign`
    const withPrimary = await runApi(primary.url, { DOCS_URL })
    onTestFinished(() => withPrimary.stop())
    const newer = await ask(withPrimary, path, { key })
    expect(newer.body.campaign.status).toBe("scheduled")
    const known = { "If-None-Match": newer.headers.get("ETag")! }
    expect((await ask(api, path, { key, headers: known })).status).toBe(304)
    expect((await ask(api, path, { key })).body.campaign.status).toBe("draft")
    expect(program.id).toBe(newer.body.service_program_id)
  })

  it("leaves it while it is too far behind, and comes back", async () => {
    const { key } = await run(primary, seed)
    const api = await startReader(primary, standby.url, "1")
    await untilRead(api)
    await pause()
    // Each request writes WAL, because it is counted.
    const lag = await eventually(
      async () => {
        expect((await ask(api, `${EVENTS}?${SINCE}`, { key })).status).toBe(200)
        return faultOf(api)
      },
      (fault) => fault === "lag",
    )
    expect(lag).toBe("lag")
    expect((await fetch(`${api.url}/readyz`)).status).toBe(200)
    await resume()
    await untilFault(api, undefined)
    const logged = messages(api)
    expect(logged.slice(logged.lastIndexOf("reading from the standby") - 1)).toEqual([
      "standby not read from, reading from the primary",
      "reading from the standby",
    ])
  })

  it("asks the primary within the request when a statement is cancelled, waits or finds no connection", async () => {
    const { key, recipients } = await run(primary, seed)
    const proxy = await tcpProxy(standby.port)
    const api = await startReader(primary, proxy.through(standby.url))
    await untilRead(api)
    const results = createResultCounter(api)
    const look = () => ask(api, `${TOKENS}/${recipients[0]!.token}`, { key })
    await untilReplayed()
    expect((await look()).status).toBe(200)
    await results()

    // The standby replays the lock of a transaction, and not its end.
    await run(
      primary,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`lock table recipients in access exclusive mode`
        yield* sql`select pg_current_xact_id()::text`
        yield* Effect.promise(() => untilReplayed())
        yield* Effect.promise(pause)
      }).pipe(inTransaction),
    )
    const cancelled = look()
    await eventually(
      () =>
        query(
          standby,
          `select pg_cancel_backend(pid) from pg_stat_activity where application_name like 'outreach-api/%' and wait_event_type = 'Lock'`,
        ),
      (rows) => rows.length > 0,
    )
    expect((await cancelled).status).toBe(200)
    expect((await look()).status).toBe(200)
    expect(await results()).toEqual({ failed: 2 })
    await resume()

    await untilRead(api)
    proxy.mute()
    expect((await look()).status).toBe(200)
    await untilFault(api, "unreachable")
    expect((await look()).status).toBe(200)
    expect((await fetch(`${api.url}/readyz`)).status).toBe(200)
    proxy.heal()
    await untilFault(api, undefined)
    await results()
    expect((await look()).status).toBe(200)
    expect(await results()).toEqual({ standby: 1 })
    proxy.cut()
    expect((await look()).status).toBe(200)
    await untilFault(api, "unreachable")
  })

  it("reads from no server that was promoted, or that did not follow a promoted primary", async () => {
    const { key, recipients } = await run(primary, seed)
    const stray = await start(startStandby(primary, { name: "stray" }))
    const api = await startReader(primary, stray.url)
    const look = (from: RunningApi) => ask(from, `${TOKENS}/${recipients[0]!.token}`, { key })
    await untilRead(api)
    await stray.promote()
    expect((await look(api)).status).toBe(200)
    await untilFault(api, "promoted")
    await api.stop()

    const successor = await start(startStandby(primary, { name: "successor" }))
    await untilReplayed()
    // A standby that has received more than the successor could never follow it.
    await query(standby, "alter system set primary_conninfo = ''")
    await query(standby, "select pg_reload_conf()")
    await eventually(
      () => query(standby, "select from pg_stat_wal_receiver"),
      (rows) => rows.length === 0,
    )
    await untilReplayed(successor)
    await primary.kill()
    await successor.promote()
    // As the first stamp does, and each worker.
    await query(successor, "select note_timeline()")
    const moved = await startReader(successor, standby.url)
    // The other standby has replayed as much, but does not follow the new primary yet.
    await untilFault(moved, "other_timeline")
    expect((await look(moved)).status).toBe(200)
    await query(standby, `alter system set primary_conninfo = '${conninfoOf(successor)}'`)
    // Its slot is at the server that is lost.
    await query(standby, "alter system set primary_slot_name = ''")
    await query(standby, "select pg_reload_conf()")
    await query(successor, "checkpoint")
    await eventually(
      async () => {
        await query(standby, "checkpoint")
        return await faultOf(moved)
      },
      (fault) => fault === undefined,
    )
    expect((await look(moved)).status).toBe(200)
  })
})

const conninfoOf = ({ url, port }: Postgres) => {
  const { username, password } = new URL(url)
  return `host=127.0.0.1 port=${port} user=${username} password=${password} application_name=reads`
}
