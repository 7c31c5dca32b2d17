import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import { createIdentifier } from "@outreach/domain/Identifier"
import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { OrganizationRepository } from "@outreach/postgres/organizations/OrganizationRepository"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { Effect, type Layer } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "vitest"
import { runApi } from "../runApi.ts"

const empty = testDatabase({ name: "empty", sources: [], migrate: async () => {} })
const migrated = migratedDatabase()

const run = <A, E>(effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof adaptersFor>>>) =>
  Effect.runPromise(Effect.provide(effect, adaptersFor(migrated())))
const query = (statement: string) => run(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)))

/** Asks an API over a database whether it is ready. */
const readyz = async (databaseUrl: string, settings: Readonly<Record<string, string>> = {}) => {
  const { url, stop } = await runApi(databaseUrl, settings)
  try {
    const response = await fetch(`${url}/readyz`)
    return { status: response.status, body: await response.json() }
  } finally {
    await stop()
  }
}
const ready = { status: 200, body: { status: "ready" } }
const unavailable = (reason: string) => ({ status: 503, body: { status: "unavailable", reason } })

describe("the readiness probe", () => {
  it("is ready over a schema of this release", async () => {
    expect(await readyz(migrated())).toEqual(ready)
  })

  it("says that the schema is missing", async () => {
    expect(await readyz(empty())).toEqual(unavailable("the schema is missing; run `ops migrate`"))
  })

  it("says that the schema is older than the release, and is ready over a newer one", async () => {
    const files = await query("delete from migrations where file = 'functions/make_id.sql' returning *")
    expect(files).toHaveLength(1)
    expect(await readyz(migrated())).toEqual(unavailable("the schema is older than this release; run `ops migrate`"))
    await query("insert into migrations (file, checksum) values ('migrations/9999_later.sql', 'of a later release')")
    expect(await readyz(migrated())).toEqual(ready)
  })

  it("says that the key does not open what is stored", async () => {
    await run(
      Effect.gen(function* () {
        const organization = yield* (yield* OrganizationRepository).create(
          yield* createIdentifier("organization"),
          "Acme Health",
        )
        yield* rotateSecret(organization.id, 0)
      }),
    )
    expect(await readyz(migrated())).toEqual(ready)
    const SECRETS_KEY = Buffer.alloc(32, 9).toString("base64")
    expect(await readyz(migrated(), { SECRETS_KEY })).toEqual(
      unavailable("SECRETS_KEY does not open the signing secrets that are stored"),
    )
  })

  it("says that the database is read-only", async () => {
    const name = new URL(migrated()).pathname.slice(1)
    await query(`alter database "${name}" set default_transaction_read_only = on`)
    expect(await readyz(migrated())).toEqual(unavailable("the database is read-only"))
  })
})
