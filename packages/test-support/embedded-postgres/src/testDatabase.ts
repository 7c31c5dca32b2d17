import { randomBytes } from "node:crypto"
import { setTimeout as delay } from "node:timers/promises"
import { type Client, escapeIdentifier } from "pg"
import { afterAll, beforeAll, inject } from "vitest"
import type {} from "./vitestServer.ts"
import { withClient } from "./withClient.ts"

/** Returns the URL of the server that the tests of a run share, and starts it on the first call. */
export async function postgresUrl(): Promise<string> {
  const response = await fetch(inject("postgresStarter"))
  if (!response.ok) throw new Error(await response.text())
  return await response.text()
}

/**
 * Gives a test file its own database, cloned before its tests and dropped after them. The file fails if it leaves a connection open. The
 * project's `globalSetup` must name `@outreach/embedded-postgres/vitestServer`.
 *
 * @param template.name - unique in the repository
 * @param template.migrate - migrates an empty database to the schema, and closes every connection that it opened
 * @returns a function that returns the database's address inside tests and hooks
 */
export function testDatabase(template: {
  readonly name: string
  readonly migrate: (url: string) => Promise<void>
}): () => string {
  let clone: Clone | undefined
  beforeAll(async () => {
    const server = await postgresUrl()
    await createTemplate(server, template.name, template.migrate)
    clone = await cloneDatabase(server, template.name)
  }, 60_000)
  afterAll(() => clone?.drop(), 60_000)
  return () => {
    if (!clone) throw new Error("The test database is available only inside tests and hooks.")
    return clone.url
  }
}

/** How long connections may take to close before they count as leaked. */
const CONNECTION_GRACE_MS = 2_000

interface Clone {
  readonly url: string
  /** Removes the database. Throws if connections to it are open. */
  readonly drop: () => Promise<void>
}

/**
 * Creates a migrated template database to clone from, unless it exists. If several processes call this at once, one migrates
 * and the other calls wait. Afterwards no client can connect to the template.
 *
 * @param serverUrl - the database to create databases from; the same for all callers
 * @throws the errors of `migrate`, and an error if `migrate` leaves connections open
 */
export async function createTemplate(
  serverUrl: string,
  name: string,
  migrate: (url: string) => Promise<void>,
): Promise<void> {
  await withClient(serverUrl, async (client) => {
    await client.query("select pg_advisory_lock(hashtextextended('template ' || $1, 0))", [name])
    const found = await client.query<{ finished: boolean }>(
      "select datistemplate and not datallowconn as finished from pg_database where datname = $1",
      [name],
    )
    if (found.rows[0]?.finished) return
    const database = escapeIdentifier(name)
    await client.query(`drop database if exists ${database} with (force)`)
    await client.query(`create database ${database} template template0 encoding 'UTF8'`)
    await migrate(urlOf(serverUrl, name))
    const left = await connectionsLeft(client, name)
    if (left) throw new Error(`The migration left connections open: ${left}.`)
    await client.query(`alter database ${database} with allow_connections false is_template true`)
  })
}

/** Clones a template that `createTemplate` created into a new database with a unique name. */
export async function cloneDatabase(serverUrl: string, template: string): Promise<Clone> {
  const name = `${template}_${randomBytes(8).toString("hex")}`
  const database = escapeIdentifier(name)
  await withClient(serverUrl, async (client) => {
    await client.query(`create database ${database} template ${escapeIdentifier(template)} strategy file_copy`)
  })
  const drop = async () => {
    const left = await withClient(serverUrl, async (client) => {
      const connections = await connectionsLeft(client, name)
      await client.query(`drop database ${database} with (force)`)
      return connections
    })
    if (left) throw new Error(`Connections to the test database were left open: ${left}.`)
  }
  return { url: urlOf(serverUrl, name), drop }
}

/** Waits for the connections to close and describes those that stay open, without their statements, which may contain data. */
async function connectionsLeft(client: Client, database: string): Promise<string> {
  const deadline = Date.now() + CONNECTION_GRACE_MS
  for (;;) {
    const { rows } = await client.query<{ connection: string }>(
      `select format('%s (%s since %s)', coalesce(nullif(application_name, ''), 'unnamed'), state, query_start) as connection
       from pg_stat_activity where datname = $1 and backend_type = 'client backend' order by query_start`,
      [database],
    )
    if (rows.length === 0 || Date.now() > deadline) return rows.map((row) => row.connection).join(", ")
    await delay(20)
  }
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.href
}
