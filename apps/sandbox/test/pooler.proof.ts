import { findProgram } from "@outreach/debian-packages/findProgram"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { SESSION_SETTINGS, STARTUP_SETTINGS } from "@outreach/postgres-connection/sessionSettings"
import { afterTests } from "@outreach/testing/afterTests"
import { CLOSED_ADDRESS } from "@outreach/testing/listen"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { eventually, until } from "@outreach/testing/until"
import { Client } from "pg"
import { beforeAll, describe, expect, it } from "vitest"
import { artifactIn, buildArtifact } from "./artifact.ts"
import { startPgBouncer } from "./startPgBouncer.ts"

const found = findProgram("pgbouncer")
const pgBouncer = "missing" in found ? "" : found.folder

let folder: string
let database: Awaited<ReturnType<typeof startPostgres>>
let admin: Client

/** Creates a role with a separate database. Returns the database's URL. */
const createDatabase = async (name: string): Promise<string> => {
  await admin.query(`create role ${name} login password 'hunter2'`)
  await admin.query(`create database ${name} owner ${name}`)
  return Object.assign(new URL(database.url), { username: name, password: "hunter2", pathname: `/${name}` }).href
}

const artifact = (settings: Readonly<Record<string, string>>) =>
  artifactIn(folder, () => ({ SMTP_URL: `smtp://${CLOSED_ADDRESS}`, ...settings }))

const reasonOf = async (url: string) => ((await (await fetch(`${url}/readyz`)).json()) as { reason?: string }).reason

describe.skipIf("missing" in found)("PgBouncer in transaction mode", () => {
  const atEnd = afterTests()
  beforeAll(async () => {
    folder = temporaryFolder("pooler", atEnd)
    await buildArtifact(folder)
    database = await startPostgres()
    atEnd(database.stop)
    admin = new Client({ connectionString: database.url })
    await admin.connect()
    atEnd(() => admin.end())
  })

  it("is named if the settings don't fit it", async () => {
    const direct = await createDatabase("mistakes")
    await artifact({ DATABASE_URL: direct }).ops("migrate")
    const refusing = await startPgBouncer(pgBouncer, direct)
    const names = [...Object.keys(STARTUP_SETTINGS), "lock_timeout"].join(", ")
    const dropping = await startPgBouncer(pgBouncer, direct, { settings: `ignore_startup_parameters = ${names}` })
    const failureOf = async (settings: Readonly<Record<string, string>>, command: string) => {
      const error = await artifact(settings)
        .ops(...command.split(" "))
        .catch((error) => error)
      return String(error.stderr)
    }

    const refused =
      /^No connection to the database of DATABASE_URL: a pooler refuses settings of the session; set DATABASE_LISTEN_URL/
    expect(await failureOf({ DATABASE_URL: refusing }, "organizations list")).toMatch(refused)
    const dropped = /: a pooler drops settings of the session \(.*statement_timeout.*\); set DATABASE_LISTEN_URL/
    expect(await failureOf({ DATABASE_URL: dropping }, "organizations list")).toMatch(dropped)
    for (const [DATABASE_URL, reason] of [
      [refusing, /^a pooler refuses settings/],
      [dropping, /^a pooler drops settings/],
    ] as const) {
      const { url } = await artifact({ DATABASE_URL }).start("api")
      expect(await reasonOf(url)).toMatch(reason)
    }

    for (const DATABASE_LISTEN_URL of [refusing, dropping]) {
      const sentence = /^A pooler between the migration and the database does not keep sessions\./
      expect(await failureOf({ DATABASE_URL: refusing, DATABASE_LISTEN_URL }, "migrate")).toMatch(sentence)
    }
    const worker = await artifact({ DATABASE_URL: refusing, DATABASE_LISTEN_URL: dropping }).start("worker")
    await until(worker, "notification listener is behind a pooler; notifications may be lost")
  })

  it("is used without a restart once the role has its settings and PgBouncer connects again, in each time zone", async () => {
    const direct = await createDatabase("zones")
    const setZone = (zone: string) => admin.query(`alter database zones set timezone = '${zone}'`)
    await setZone("Europe/Berlin")
    const pooled = await startPgBouncer(pgBouncer, direct, { settings: "admin_users = zones" })
    const reconnect = async () => {
      const console = new Client({ connectionString: Object.assign(new URL(pooled), { pathname: "/pgbouncer" }).href })
      await console.connect()
      await console.query("RECONNECT")
      await console.end()
    }
    const { ops, start } = artifact({ DATABASE_URL: pooled, DATABASE_LISTEN_URL: direct })
    await ops("migrate")
    const [api, worker] = [await start("api"), await start("worker")]
    const reasons = () =>
      Promise.all([api.url, worker.adminUrl].map(async (url) => (await fetch(`${url}/readyz`)).text()))
    const lacking = /the role of DATABASE_URL lacks settings .*statement_timeout/
    await eventually(reasons, (found) => found.every((reason) => lacking.test(reason)))

    for (const [name, value] of Object.entries(SESSION_SETTINGS)) {
      await admin.query(`alter role zones set ${name} = '${value}'`)
    }
    await reconnect()
    await eventually(reasons, (found) => found.every((reason) => /^ready|"ready"/.test(reason)))
    await setZone("Etc/UTC")
    await reconnect()
    expect(await reasonOf((await start("api")).url)).toBeUndefined()
    expect([await api.kill("SIGTERM"), await worker.kill("SIGTERM")]).toEqual([0, 0])
  })
})
