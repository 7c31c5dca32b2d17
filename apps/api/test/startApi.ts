import type { Scope } from "@outreach/contract"
import type { KeyId, OrganizationId } from "@outreach/domain/Identifier"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { Effect, type Layer, ManagedRuntime, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll } from "vitest"
import { type RunningApi, runApi } from "./runApi.ts"

export const DOCS_URL = "https://docs.outreach.test/guide"

type Adapters = Layer.Success<ReturnType<typeof adaptersFor>>

/** The API in the test's own process, over a database of its own. */
export interface TestApi {
  readonly url: string
  readonly databaseUrl: string
  /** Returns where it serves operators. */
  readonly adminUrl: () => Promise<string>
  /** Every line that was logged so far; what a request logs may come after its answer. */
  readonly logs: ReadonlyArray<string>
  readonly run: <A, E>(effect: Effect.Effect<A, E, Adapters>) => Promise<A>
  /** Issues a key and answers its text. */
  readonly issue: (organizationId: OrganizationId, scopes: ReadonlyArray<Scope>) => Promise<{ id: KeyId; text: string }>
  /** Lets a key have made `count` requests in this minute, and in the next one should the test run into it. */
  readonly setCount: (keyId: KeyId, count: number) => Promise<void>
  /** The requests that were charged to anybody. */
  readonly charged: () => Promise<number>
}

/** Waits for an end; fails with what does not end before the test runner says only that something does not. */
const named = async (complaint: string, end: Promise<void> | undefined): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(complaint)), 55_000)
  })
  await Promise.race([end, late]).finally(() => clearTimeout(timer))
}

/** Starts the API before a file's tests, once `prepare` has had its way with the database, and stops it after them. */
export const startApi = (
  prepare?: Effect.Effect<unknown, unknown, SqlClient.SqlClient>,
  settings: Readonly<Record<string, string>> = {},
): (() => TestApi) => {
  const databaseUrl = migratedDatabase()
  let adapters: ManagedRuntime.ManagedRuntime<Adapters, unknown>
  let api: RunningApi

  beforeAll(async () => {
    adapters = ManagedRuntime.make(adaptersFor(databaseUrl()))
    if (prepare) await adapters.runPromise(prepare)
    api = await runApi(databaseUrl(), { DEPLOYMENT: "staging", DOCS_URL, ...settings })
  })
  afterAll(async () => {
    await named("the API does not stop", api?.stop())
    await named("the adapters do not close", adapters?.dispose())
  })

  const run: TestApi["run"] = (effect) => adapters.runPromise(effect)
  return () => ({
    url: api.url,
    databaseUrl: databaseUrl(),
    adminUrl: api.adminUrl,
    logs: api.logs,
    run,
    issue: async (organizationId, scopes) => {
      const { key, text } = await run(issueKey({ organizationId, name: "test", scopes, expiresAt: null }))
      return { id: key.id, text: Redacted.value(text) }
    },
    setCount: (keyId, count) =>
      run(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`
            insert into rate_windows (key_id, window_start, count)
            select ${keyId}, floor(extract(epoch from clock_timestamp()) / 60)::bigint * 60 + later, ${count}
            from unnest(array[0, 60]) as later
            on conflict (key_id, window_start) do update set count = excluded.count`,
        ).pipe(Effect.asVoid),
      ),
    charged: () =>
      run(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql<{ total: number }>`select coalesce(sum(count), 0)::int as total from rate_windows`,
        ).pipe(Effect.map((rows) => rows[0]!.total)),
      ),
  })
}
