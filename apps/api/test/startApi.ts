import type { Scope } from "@outreach/contract"
import { issueKey } from "@outreach/domain/callers/ApiKeys"
import type { KeyId, OrganizationId } from "@outreach/domain/Identifier"
import { adaptersFor } from "@outreach/postgres/test/adaptersFor"
import { migratedDatabase } from "@outreach/postgres/test/migratedDatabase"
import { Effect, Layer, Logger, ManagedRuntime, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll } from "vitest"
import { ApiConfig } from "../src/ApiConfig.ts"
import { api } from "../src/api.ts"

export const DOCS_URL = "https://docs.outreach.test/guide"

type Adapters = Layer.Success<ReturnType<typeof adaptersFor>>

/** The API on a port of its own, over a database of its own. */
export interface TestApi {
  readonly url: string
  readonly databaseUrl: string
  /** Everything that was logged, as one text for each entry. */
  readonly logs: ReadonlyArray<string>
  readonly run: <A, E>(effect: Effect.Effect<A, E, Adapters>) => Promise<A>
  /** Issues a key and answers its text. */
  readonly issue: (organizationId: OrganizationId, scopes: ReadonlyArray<Scope>) => Promise<{ id: KeyId; text: string }>
  /** Lets a key have made `count` requests in this minute, and in the next one should the test run into it. */
  readonly setCount: (keyId: KeyId, count: number) => Promise<void>
  /** The requests that were charged to anybody. */
  readonly charged: () => Promise<number>
}

/** Starts the API before a file's tests, once `prepare` has had its way with the database, and stops it after them. */
export const startApi = (prepare?: Effect.Effect<unknown, unknown, SqlClient.SqlClient>): (() => TestApi) => {
  const databaseUrl = migratedDatabase()
  const logs: Array<string> = []
  // Two runtimes, because one would build an adapter that both use only once, over the tests' own connections.
  let adapters: ManagedRuntime.ManagedRuntime<Adapters, unknown>
  let served: ManagedRuntime.ManagedRuntime<HttpServer.HttpServer, unknown>
  let url = ""

  beforeAll(async () => {
    adapters = ManagedRuntime.make(adaptersFor(databaseUrl()))
    if (prepare) await adapters.runPromise(prepare)
    const config = Layer.succeed(ApiConfig, {
      databaseUrl: Redacted.make(databaseUrl()),
      host: "127.0.0.1",
      port: 0,
      publicBaseUrl: "https://api.outreach.test",
      deployment: "staging",
      docsUrl: DOCS_URL,
      secretsKey: Redacted.make(Buffer.alloc(32, 7)),
      cursorKey: Redacted.make(Buffer.alloc(32, 9)),
    })
    const logger = Logger.layer([
      Logger.make((entry) => {
        logs.push(Logger.formatJson.log(entry))
      }),
    ])
    served = ManagedRuntime.make(api.pipe(Layer.provide(config), Layer.provide(logger)))
    const { address } = await served.runPromise(HttpServer.HttpServer)
    url = HttpServer.formatAddress(address)
  })
  afterAll(async () => {
    await served?.dispose()
    await adapters?.dispose()
  })

  const run: TestApi["run"] = (effect) => adapters.runPromise(effect)
  return () => ({
    url,
    databaseUrl: databaseUrl(),
    logs,
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
