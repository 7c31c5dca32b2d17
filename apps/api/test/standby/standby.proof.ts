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
/** So long that no pause of the replay ends the reading from the standby. */
const PATIENT = "3600"

type Adapters = Layer.Success<ReturnType<typeof adaptersFor>>
const run = <A, E>(server: Postgres, effect: Effect.Effect<A, E, Adapters>): Promise<A> =>
  Effect.runPromise(Effect.provide(effect, adaptersFor(server.url)))
const query = (server: Postgres, statement: string) =>
  run(
    server,
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)),
  )

/** Starts an API that may read from a standby at a port. */
const startReader = async (primary: Postgres, standbyUrl: string): Promise<RunningApi> => {
  const api = await runApi(primary.url, {
    DOCS_URL,
    DATABASE_READ_URL: asRole(standbyUrl, "api"),
    READ_MAX_LAG_SECONDS: PATIENT,
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
const untilRead = (api: RunningApi) => until(api.log, "reading from the standby")

/** Creates an organization with a campaign, and a key of it. */
const seed = Effect.gen(function* () {
  const { organization, campaign } = yield* seedCampaign({ recipients: 6 })
  yield* publishTogether(campaign, 5)
  const { text } = yield* issueKey({ organizationId: organization.id, name: "reader", scopes: SCOPES, expiresAt: null })
  const sql = yield* SqlClient.SqlClient
  const recipients = yield* sql<{ token: string; id: string }>`
    select token, id from recipients where campaign_id = ${campaign.id} order by updated_at, id`
  return { campaign, key: Redacted.value(text), recipients }
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
    primary = await startPostgres()
    await run(primary, migrateWithRoles)
    standby = await startStandby(primary, { name: "reads" })
  }, 120_000)
  afterAll(async () => {
    await standby?.stop()
    await primary?.stop()
  }, 60_000)

  const pause = async () => {
    await query(standby, "select pg_wal_replay_pause()")
    onTestFinished(async () => void (await query(standby, "select pg_wal_replay_resume()")))
    await eventually(
      () => query(standby, "select pg_get_wal_replay_pause_state() as state"),
      (rows) => (rows[0] as { state: string }).state === "paused",
    )
  }
  /** Waits until the standby has replayed what the primary has written. */
  const untilReplayed = async () => {
    const [written] = await query(primary, "select pg_current_wal_insert_lsn()::text as lsn")
    await eventually(
      () => query(standby, `select pg_last_wal_replay_lsn() >= '${(written as { lsn: string }).lsn}' as done`),
      (rows) => (rows[0] as { done: boolean }).done,
    )
  }

  it("reads lookups and lists from the standby, and the end of a list from the primary", async () => {
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
    for (const path of paths) expect([path, (await ask(api, path, { key })).status]).toEqual([path, 200])
    expect(await results()).toEqual({ standby: 5 })
    // Only the primary knows which transactions are still writing at the end of a list.
    for (const path of [`${TOKENS}?${SINCE}`, `${EVENTS}?${SINCE}`]) {
      expect((await ask(api, path, { key })).body.has_more).toBe(false)
    }
    expect(await results()).toEqual({ last_page: 2 })
    // The primary confirms that a token is unknown.
    expect((await ask(api, `${TOKENS}/zzzzzz`, { key })).status).toBe(404)
    expect(await results()).toEqual({ not_found: 1 })
  })

  it("returns nothing older than the primary had, except rows before the end of a list", async () => {
    const { campaign, key, recipients } = await run(primary, seed)
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

    // An existing token isn't a 404, and a record isn't older than its last webhook.
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
  })

  it("leaves a standby that was promoted", async () => {
    const { key, recipients } = await run(primary, seed)
    const promoted = await startStandby(primary, { name: "promoted" })
    onTestFinished(promoted.stop)
    const api = await startReader(primary, promoted.url)
    await untilRead(api)
    await promoted.promote()
    expect((await ask(api, `${TOKENS}/${recipients[0]!.token}`, { key })).status).toBe(200)
    await until(api.log, "standby not read from, reading from the primary")
    expect((await fetch(`${api.url}/readyz`)).status).toBe(200)
  })
})
