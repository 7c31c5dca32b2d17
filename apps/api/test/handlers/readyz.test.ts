import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { Effect, type Layer } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it, onTestFinished } from "vitest"
import { runApi } from "../runApi.ts"

const empty = testDatabase({ name: "empty", sources: [], migrate: async () => {} })
const migrated = migratedDatabase()

const run = <A, E>(effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof adaptersFor>>>) =>
  Effect.runPromise(Effect.provide(effect, adaptersFor(migrated())))
const query = <Row extends object>(statement: string) =>
  run(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Row>(statement)))

/** Asks an API over a database whether it is ready, on both of its ports. */
const readyz = async (databaseUrl: string) => {
  const { url, adminUrl, stop } = await runApi(databaseUrl)
  try {
    const response = await fetch(`${url}/readyz`)
    const ofOperators = await fetch(`${await adminUrl()}/readyz`)
    expect(ofOperators.status).toBe(response.status)
    return { status: response.status, body: await response.json(), text: await ofOperators.text() }
  } finally {
    await stop()
  }
}
const ready = { status: 200, body: { status: "ready" }, text: "ready\n" }
const unavailable = (code: string, reason: string) => ({
  status: 503,
  body: { status: "unavailable", code, reason },
  text: `not ready: ${reason} (${code})\n`,
})

describe("the readiness probe", () => {
  it("is ready over a schema of this release", async () => {
    expect(await readyz(migrated())).toEqual(ready)
  })

  it("says that the schema is missing", async () => {
    expect(await readyz(empty())).toEqual(
      unavailable(
        "42P01",
        "the schema is missing, or the role of DATABASE_URL may not see it; run `ops migrate`, with `--grant-to` for a role that is not the owner",
      ),
    )
  })

  it("says that the schema is older than the release, and is ready over a newer one", async () => {
    const files = await query("delete from migrations where file = 'functions/make_id.sql' returning *")
    expect(files).toHaveLength(1)
    expect(await readyz(migrated())).toEqual(
      unavailable("OLD_SCHEMA", "the schema is older than this release; run `ops migrate`"),
    )
    await query("insert into migrations (file, checksum) values ('migrations/9999_later.sql', 'of a later release')")
    expect(await readyz(migrated())).toEqual(ready)
    await query("delete from migrations where file = 'migrations/9999_later.sql'")
    await query("insert into migrations (file, checksum) values ('functions/make_id.sql', '')")
  })

  it("says that another baseline made the database, whatever followed it, and the way out", async () => {
    const [baseline] = await query<{ checksum: string }>(
      "update migrations old set checksum = 'of another baseline' from migrations known where old.file = 'migrations/0001_baseline.sql' and known.file = old.file returning known.checksum",
    )
    await query("insert into migrations (file, checksum) values ('migrations/0047_timelines.sql', 'x')")
    expect(await readyz(migrated())).toEqual(
      unavailable(
        "OTHER_BASELINE",
        "the database was made before the baseline of these migrations, and cannot be migrated; create a new one, and for a sandbox run `npm start -- --fresh` or name a new `--folder`",
      ),
    )
    await query("delete from migrations where file = 'migrations/0047_timelines.sql'")
    await query(`update migrations set checksum = '${baseline!.checksum}' where file = 'migrations/0001_baseline.sql'`)
  })

  it("says that the database is read-only", async () => {
    const name = new URL(migrated()).pathname.slice(1)
    await query(`alter database "${name}" set default_transaction_read_only = on`)
    onTestFinished(() =>
      run(
        SqlClient.SqlClient.use((sql) =>
          sql.withTransaction(
            Effect.andThen(
              sql`set transaction read write`,
              sql.unsafe(`alter database "${name}" reset default_transaction_read_only`),
            ),
          ),
        ),
      ).then(() => {}),
    )
    expect(await readyz(migrated())).toMatchObject({
      status: 503,
      body: { code: "25006", reason: expect.stringMatching(/^the database is read-only; /) },
    })
  })
})
