import { SCOPES, type Scope } from "@outreach/contract"
import type { KeyId, OrganizationId } from "@outreach/domain/Identifier"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { eventually } from "@outreach/testing/eventually"
import { inTransaction } from "@outreach/testing/inTransaction"
import { migratedDatabase, runOnDatabase, type Services } from "@outreach/testing/runOnDatabase"
import type { Run } from "@outreach/testing/runWith"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql, value } from "@outreach/testing/sql"
import { Effect, Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { type RunningApi, runApi } from "./runApi.ts"

export const DOCS_URL = "https://docs.outreach.test/guide"

/** The data of a campaign that `seedCampaign` creates. */
export type Seeded = Effect.Success<ReturnType<typeof seedCampaign>>

/** The API in the test's process, and its database. */
export interface TestApi extends Pick<RunningApi, "url" | "adminUrl" | "log"> {
  readonly databaseUrl: string
  readonly run: Run<Services>
  /** Seeds an organization with a campaign's recipients and a key with all scopes. */
  readonly seed: (recipients: number) => Promise<Seeded & { readonly key: string }>
  /** Issues a key. Returns its id and text. */
  readonly issue: (organizationId: OrganizationId, scopes: ReadonlyArray<Scope>) => Promise<{ id: KeyId; text: string }>
  /** Sets the number of requests of a key in this minute, and in the next one in case the test reaches it. */
  readonly setCount: (keyId: KeyId, count: number) => Promise<void>
  /** Returns the number of requests charged to the keys of an organization. */
  readonly charged: (organizationId: OrganizationId) => Promise<number>
  /** Runs work while a table is locked. */
  readonly whileLocked: <A>(table: string, work: () => Promise<A>) => Promise<A>
  /** Waits until this number of statements wait for a locked table. */
  readonly untilBlocked: (table: string, count?: number) => Promise<unknown>
  /** Runs work while a table is missing, which makes its statements fail permanently. */
  readonly whileMissing: <A>(table: string, work: () => Promise<A>) => Promise<A>
}

/** Starts the API before a file's tests and stops it after them. `prepare` changes the database first. */
export const startApi = (
  prepare?: Effect.Effect<unknown, unknown, Services>,
  settings: Readonly<Record<string, string>> = {},
): (() => TestApi) => {
  const databaseUrl = migratedDatabase()
  const run = runOnDatabase({ url: databaseUrl })
  let api: RunningApi

  beforeAll(async () => {
    if (prepare) await run(prepare)
    api = await runApi(databaseUrl(), { DEPLOYMENT: "staging", DOCS_URL, ...settings })
  })
  afterAll(() => api?.stop())

  const rename = (from: string, to: string) => run(sql`alter table ${sql(from)} rename to ${sql(to)}`)
  const issue: TestApi["issue"] = async (organizationId, scopes) => {
    const { key, text } = await run(issueKey({ organizationId, name: "test", scopes, expiresAt: null }))
    return { id: key.id, text: Redacted.value(text) }
  }
  return () => ({
    ...api,
    databaseUrl: databaseUrl(),
    run,
    issue,
    seed: async (recipients) => {
      const seeded = await run(seedCampaign({ recipients }))
      return { ...seeded, key: (await issue(seeded.organization.id, SCOPES)).text }
    },
    setCount: async (keyId, count) => {
      await run(sql`
        insert into rate_windows (key_id, window_start, count)
        select ${keyId}, floor(extract(epoch from clock_timestamp()) / 60)::bigint * 60 + later, ${count}
        from unnest(array[0, 60]) as later
        on conflict (key_id, window_start) do update set count = excluded.count`)
    },
    charged: (organizationId) =>
      run(value<number>`
        select coalesce(sum(count), 0)::int from rate_windows
        where key_id in (select id from api_keys where organization_id = ${organizationId})`),
    whileLocked: (table, work) =>
      run(inTransaction(Effect.andThen(sql`lock table ${sql(table)} in access exclusive mode`, Effect.promise(work)))),
    untilBlocked: (table, count = 1) =>
      eventually(
        () =>
          run(sql`
            select from pg_locks where not granted and relation = ${table}::regclass
              and database = (select oid from pg_database where datname = current_database())`),
        ({ length }) => length >= count,
      ),
    whileMissing: async (table, work) => {
      await rename(table, `${table}_away`)
      try {
        return await work()
      } finally {
        await rename(`${table}_away`, table)
      }
    },
  })
}
