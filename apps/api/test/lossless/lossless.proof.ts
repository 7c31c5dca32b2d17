import { type Postgres, startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { startStandby } from "@outreach/embedded-postgres/startStandby"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { asRole, migrateWithRoles } from "@outreach/testing/testRoles"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Outcome, pollWhileWriting } from "./pollWhileWriting.ts"

/** How long the writers write, at the least. */
const SECONDS = Number(process.env["LOSSLESS_SECONDS"] ?? 5)

// After the writers, the pollers that ask for one row at a time have the longest way to go.
const timeout = 5 * 60_000

/** The pollers of which something is true, in words. */
const pollersWith = ({ verdicts }: Outcome, is: (verdict: Outcome["verdicts"][number]) => boolean) =>
  verdicts.filter(is).map(({ poller }) => `${poller.list}, ${poller.habit}, ${poller.limit}`)

describe("a poller of a list to which 24 writers write", { timeout }, () => {
  const databaseUrl = migratedDatabase()

  it("misses nothing and sees nothing that is another's or was rolled back, whatever its limit and habit", async () => {
    const outcome = await Effect.runPromise(pollWhileWriting(databaseUrl(), { seconds: SECONDS }))
    report(outcome)
    expect(pollersWith(outcome, ({ lost }) => lost.length > 0)).toEqual([])
    expect(pollersWith(outcome, ({ strange }) => strange.length > 0)).toEqual([])
    expect(pollersWith(outcome, ({ poller }) => poller.seen.size === 0)).toEqual([])

    // There was something to miss, and something that must not be seen.
    expect(outcome.versions).toBeGreaterThan(outcome.recipients)
    expect(outcome.rolledBack).toBeGreaterThan(0)
    expect(outcome.beside).toBeGreaterThan(1)
  })
})

describe("a poller whose pages come from the primary and from a standby in turn", { timeout }, () => {
  let primary: Postgres
  let standby: Postgres
  beforeAll(async () => {
    primary = await startPostgres()
    await Effect.runPromise(Effect.provide(migrateWithRoles, testDatabaseLayer(primary.url)))
    standby = await startStandby(primary, { name: "reads" })
  }, 120_000)
  afterAll(async () => {
    await standby?.stop()
    await primary?.stop()
  })

  it("misses nothing, though the standby stops and goes on", async () => {
    const readUrl = new URL(asRole(primary.url, "api"))
    readUrl.port = String(standby.port)
    let fromStandby = 0
    const replay = (change: "pause" | "resume") =>
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(`select pg_wal_replay_${change}()::text`))
    const outcome = await Effect.runPromise(
      pollWhileWriting(primary.url, {
        seconds: Math.min(SECONDS, 4),
        settings: {
          DATABASE_READ_URL: readUrl.href,
          READ_MAX_LAG_SECONDS: "3600",
        },
        beside: (adminUrl) =>
          Effect.gen(function* () {
            yield* replay("pause")
            yield* Effect.sleep("700 millis")
            yield* replay("resume")
            yield* Effect.sleep("300 millis")
            const metrics = yield* Effect.promise(async () => (await fetch(`${adminUrl}/metrics`)).text())
            fromStandby = Number(/^outreach_standby_reads_total\{result="standby"\} (\d+)$/m.exec(metrics)?.[1] ?? 0)
          }).pipe(Effect.forever, Effect.provide(testDatabaseLayer(standby.url)), Effect.orDie),
      }),
    )
    report(outcome)
    console.log(`${fromStandby} pages came from the standby.`)
    expect(pollersWith(outcome, ({ lost }) => lost.length > 0)).toEqual([])
    expect(pollersWith(outcome, ({ strange }) => strange.length > 0)).toEqual([])
    expect(pollersWith(outcome, ({ poller }) => poller.seen.size === 0)).toEqual([])
    expect(fromStandby).toBeGreaterThan(100)
  })
})

/** Prints what was written and read. */
function report({ verdicts, ...outcome }: Outcome): void {
  const pages = verdicts.reduce((sum, { poller }) => sum + poller.pages, 0)
  console.log({ ...outcome, pages })
}
