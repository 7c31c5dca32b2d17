import { startStandby } from "@outreach/embedded-postgres/startStandby"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it, onTestFinished } from "vitest"
import { commandLine } from "./commandLine.ts"

const { url, run, meanwhile } = commandLine()

it("ops doctor finds that a standby replays, and that one which has stopped is too far behind", async () => {
  const [server] = await meanwhile(
    SqlClient.SqlClient.use(
      (sql) => sql<{ dataDirectory: string }>`
      select current_setting('data_directory') as "dataDirectory"`,
    ),
  )
  const primary = { url: url(), port: Number(new URL(url()).port), ...server! }
  const standby = await startStandby(primary, { name: "doctor" })
  onTestFinished(() => standby.stop())
  const readUrl = new URL(url())
  readUrl.port = String(standby.port)
  const consult = async (maxLagSeconds: string) => {
    const { code, stdout } = await run(["doctor", "--output", "json"], {
      SECRETS_KEY: Buffer.alloc(32, 7).toString("base64"),
      DATABASE_READ_URL: readUrl.href,
      READ_MAX_LAG_SECONDS: maxLagSeconds,
    })
    const value = JSON.parse(stdout)
    const checks: ReadonlyArray<Record<string, string>> = (code === 0 ? value : value.error).checks
    return checks.find(({ check }) => check === "standby")
  }
  expect(await consult("3600")).toMatchObject({
    status: "ok",
    found: expect.stringMatching(/^The standby of DATABASE_READ_URL replayed what the primary has written within /),
  })
  const { stdout } = await run(["doctor", "--output", "json"], { DATABASE_URL: url(), FAILOVER_SECONDS: "120" })
  expect(stdout).toContain("FAILOVER_SECONDS is set, and a standby that may be promoted is asynchronous: ")
  await Effect.runPromise(
    SqlClient.SqlClient.use((sql) => sql`select pg_wal_replay_pause()::text`).pipe(
      Effect.provide(testDatabaseLayer(readUrl.href)),
    ),
  )
  await meanwhile(SqlClient.SqlClient.use((sql) => sql`select pg_current_xact_id()::text, pg_switch_wal()::text`))
  expect(await consult("1")).toMatchObject({
    status: "failed",
    found: "The API does not read from DATABASE_READ_URL: the standby is too far behind the primary.",
  })
})
