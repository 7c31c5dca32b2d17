import { SCOPES, type Scope } from "@outreach/contract"
import type { KeyId, OrganizationId } from "@outreach/domain/Identifier"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { migratedDatabase, runOnDatabase, type Services } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { inTransaction, sql, value } from "@outreach/testing/sql"
import { eventually } from "@outreach/testing/until"
import { Effect, Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { runApi } from "./runApi.ts"

export const DOCS_URL = "https://docs.outreach.test/guide"

/** The data of a campaign that `seedCampaign` creates. */
export type Seeded = Effect.Success<ReturnType<typeof seedCampaign>>

/** The API in the test's process, and its database. */
export type TestApi = ReturnType<ReturnType<typeof startApi>>

/** Starts the API before a file's tests and stops it after them. `prepare` changes the database first. */
export const startApi = (
  prepare?: Effect.Effect<unknown, unknown, Services>,
  settings: Readonly<Record<string, string>> = {},
) => {
  const databaseUrl = migratedDatabase()
  const run = runOnDatabase({ url: databaseUrl })
  let api: Awaited<ReturnType<typeof runApi>>

  beforeAll(async () => {
    if (prepare) await run(prepare)
    api = await runApi(databaseUrl(), { DEPLOYMENT: "staging", DOCS_URL, ...settings })
  })
  afterAll(() => api?.stop())

  const rename = (from: string, to: string) => run(sql`alter table ${sql(from)} rename to ${sql(to)}`)
  /** Issues a key. Returns its id and text. */
  const issue = async (organizationId: OrganizationId, scopes: ReadonlyArray<Scope>) => {
    const { key, text } = await run(issueKey({ organizationId, name: "test", scopes, expiresAt: null }))
    return { id: key.id, text: Redacted.value(text) }
  }
  return () => ({
    ...api,
    databaseUrl: databaseUrl(),
    run,
    issue,
    /** Seeds an organization with a campaign's recipients and a key with all scopes. */
    seed: async (recipients: number) => {
      const seeded = await run(seedCampaign({ recipients }))
      return { ...seeded, key: (await issue(seeded.organization.id, SCOPES)).text }
    },
    /** Sets the number of requests of a key in this minute, and in the next one in case the test reaches it. */
    setCount: async (keyId: KeyId, count: number) => {
      await run(sql`
        insert into rate_windows (key_id, window_start, count)
        select ${keyId}, floor(extract(epoch from clock_timestamp()) / 60)::bigint * 60 + later, ${count}
        from unnest(array[0, 60]) as later
        on conflict (key_id, window_start) do update set count = excluded.count`)
    },
    /** Returns the number of requests charged to the keys of an organization. */
    charged: (organizationId: OrganizationId) =>
      run(value<number>`
        select coalesce(sum(count), 0)::int from rate_windows
        where key_id in (select id from api_keys where organization_id = ${organizationId})`),
    /** Runs work while a table is locked. */
    whileLocked: <A>(table: string, work: () => Promise<A>) =>
      run(inTransaction(Effect.andThen(sql`lock table ${sql(table)} in access exclusive mode`, Effect.promise(work)))),
    /** Waits until this number of statements wait for a locked table. */
    untilBlocked: (table: string, count = 1) =>
      eventually(
        () =>
          run(sql`
            select from pg_locks where not granted and relation = ${table}::regclass
              and database = (select oid from pg_database where datname = current_database())`),
        ({ length }) => length >= count,
      ),
    /** Runs work while a table is missing, which makes its statements fail permanently. */
    whileMissing: async <A>(table: string, work: () => Promise<A>) => {
      await rename(table, `${table}_away`)
      try {
        return await work()
      } finally {
        await rename(`${table}_away`, table)
      }
    },
  })
}
