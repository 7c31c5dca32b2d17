import { DatabaseInspection } from "@outreach/backoffice/inspection/DatabaseInspection"
import { ApiKeyRepository, issueKey } from "@outreach/domain/organizations/ApiKeys"
import { type Postgres, startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { type Standby, startStandby } from "@outreach/embedded-postgres/startStandby"
import { runMigrations } from "@outreach/postgres/migrations/runMigrations"
import { adaptersFor, testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { eventually } from "@outreach/testing/until"
import { Effect, type Layer, Redacted } from "effect"
import { afterEach, expect, it } from "vitest"

const started: Postgres[] = []
afterEach(() => Promise.all(started.splice(0).map((server) => server.stop())))

type Services = Layer.Success<ReturnType<typeof adaptersFor>>
const run = <A, E>(url: string, effect: Effect.Effect<A, E, Services>): Promise<A> =>
  Effect.runPromise(Effect.provide(effect, adaptersFor(url)))
const query = <Row extends object>(url: string, text: string) => run(url, sql.unsafe<Row>(text))

/** Starts a server with the newest schema, and an asynchronous standby of it. */
const startPair = async (): Promise<{ readonly primary: Postgres; readonly standby: Standby }> => {
  const primary = await startPostgres()
  started.push(primary)
  await run(primary.url, runMigrations())
  const standby = await startStandby(primary, { name: "s1" })
  started.push(standby)
  return { primary, standby }
}

/** Waits until the standby has replayed the committed transactions. */
const untilReplayed = async (primary: Postgres, standby: Standby) => {
  const [end] = await query<{ lsn: string }>(primary.url, "select pg_current_wal_insert_lsn()::text as lsn")
  await eventually(
    () => query(standby.url, `select where pg_last_wal_replay_lsn() >= '${end!.lsn}'`),
    ({ length }) => length > 0,
  )
}

/** Waits until the standby has replayed the committed transactions, and stops its replication. */
const cutOff = async (primary: Postgres, standby: Standby) => {
  await untilReplayed(primary, standby)
  await query(standby.url, "alter system set primary_conninfo = ''")
  await query(standby.url, "select pg_reload_conf()")
  await eventually(
    () => query(primary.url, "select from pg_stat_replication where application_name = 's1'"),
    ({ length }) => length === 0,
  )
}

const identityOf = async (url: string) =>
  (await query<{ identity: string | null }>(url, "select current_identity() as identity"))[0]!.identity!
/** Promotes two independent standbys of one server, and publishes on both. */
const promoteBoth = async () => {
  const { primary, standby: one } = await startPair()
  const other = await startStandby(primary, { name: "s2" })
  started.push(other)
  const { organization, campaign } = await run(primary.url, seedCampaign({ recipients: 0 }))
  await cutOff(primary, one)
  await untilReplayed(primary, other)
  await primary.kill()
  await Promise.all([one.promote(), other.promote()])
  for (const { url } of [one, other]) await run(url, publishSent(campaign, 1))
  return { one, other, organization, campaign }
}

it("two standbys that were promoted to the same timeline number are distinguished, and each is recognized after a restart", async () => {
  const { one, other } = await promoteBoth()
  const identities = [await identityOf(one.url), await identityOf(other.url)]
  expect(identities.map((each) => each.split("/").slice(0, 2))).toEqual(
    Array(2).fill([identities[0]!.split("/")[0], "00000002"]),
  )
  expect(identities[0]).not.toBe(identities[1])
  await one.restart()
  expect(await identityOf(one.url)).toBe(identities[0])
})

it("reports the standbys, and whether commits wait for one", async () => {
  const { primary, standby } = await startPair()
  await run(primary.url, seedCampaign({ recipients: 0 }))
  const read = (url: string) =>
    Effect.runPromise(
      Effect.provide(
        DatabaseInspection.use(({ readStandbys }) => readStandbys),
        testDatabaseLayer(url),
      ),
    )
  await query(primary.url, "alter system set synchronous_standby_names = 'ANY 1 (s1, s2)'")
  await query(primary.url, "select pg_reload_conf()")
  const synchronous = await eventually(
    () => read(primary.url),
    ({ standbys }) => standbys?.[0]?.syncState === "quorum",
  )
  expect(synchronous).toMatchObject({
    synchronousStandbys: "ANY 1 (s1, s2)",
    commitsWait: false,
    standbys: [{ name: "s1", syncState: "quorum" }],
  })
  expect(await read(standby.url)).toMatchObject({ commitsWait: false, standbys: [] })

  await cutOff(primary, standby)
  expect(await read(primary.url)).toMatchObject({ commitsWait: true, standbys: [] })
  await primary.kill()
  await standby.promote()
  expect(await read(standby.url)).toMatchObject({ commitsWait: false })
})

it("resets the API's rate limit window once after a promotion, and doesn't keep sending rates", async () => {
  const { primary, standby } = await startPair()
  const { organization } = await run(primary.url, seedCampaign({ recipients: 0 }))
  const { text } = await run(
    primary.url,
    issueKey({ organizationId: organization.id, name: "x", scopes: ["events:read"], expiresAt: null }),
  )
  const use = (url: string) =>
    run(
      url,
      ApiKeyRepository.use(({ authenticateKey }) => authenticateKey(Redacted.value(text))),
    )
  for (let i = 0; i < 3; i++) await use(primary.url)
  // A promotion empties unlogged tables.
  const rates =
    "select relpersistence as persistence from pg_class where relname in ('rate_windows', 'send_rates', 'hit_windows')"
  expect(await query(primary.url, rates)).toEqual(Array(3).fill({ persistence: "u" }))
  await cutOff(primary, standby)
  await primary.kill()
  await standby.promote()
  expect((await use(standby.url))!.count).toBe(1)
  expect(await query(standby.url, "select from send_rates")).toEqual([])
})
