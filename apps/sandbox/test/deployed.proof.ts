import { execFile } from "node:child_process"
import { chmod, chown, cp, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { findUnpacked } from "@outreach/debian-packages/findProgram"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { reservePort } from "@outreach/testing/reservePort"
import { Client } from "pg"
import { expect, it, onTestFinished } from "vitest"
import { artifactIn, buildArtifact, REPOSITORY } from "./artifact.ts"
import { expectJourney } from "./journey.ts"
import { startPgBouncer } from "./startPgBouncer.ts"
import { startPostgres15 } from "./startPostgres15.ts"

const KEY = Buffer.alloc(32, 7).toString("base64")
/** The service's user, who has no name on this machine and owns nothing but the artifact. */
const SERVICE = { uid: 54_321, gid: 54_321 }
const ROLES = {
  api: "outreach_api",
  worker: "outreach_worker",
  operator: "outreach_operator",
  reader: "outreach_reader",
}
const PASSWORDS = Object.fromEntries(
  [...Object.values(ROLES), "outreach_owner"].map((role) => [role, `${role} password`]),
)

const certificate = (name: string) => join(REPOSITORY, "packages/postgres-connection/test/data", name)
const run = promisify(execFile)

/** A folder of the service's user, which only that user and root may enter, with the artifact and Node. */
const home = async () => {
  const folder = await mkdtemp(join(tmpdir(), "outreach-home-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await buildArtifact(folder)
  await cp(certificate("authority.crt"), join(folder, "authority.crt"))
  await cp(process.execPath, join(folder, "node"))
  await run("chown", ["-R", `${SERVICE.uid}:${SERVICE.gid}`, folder])
  await chmod(folder, 0o700)
  return folder
}

const connect = async (connectionString: string) => {
  const ca = await readFile(certificate("authority.crt"), "utf8")
  const client = new Client({ connectionString, ssl: { ca } })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

it("runs the journey from the artifact alone as another user, with PostgreSQL 15 over TLS, through PgBouncer, under a role for each process", async ({
  skip,
}) => {
  const [postgres, pgBouncer] = [findUnpacked("postgresql"), findUnpacked("pgbouncer")]
  if ("missing" in postgres) return skip(postgres.missing)
  if ("missing" in pgBouncer) return skip(pgBouncer.missing)
  if (userInfo().uid !== 0) return skip("only root starts processes as other users")

  const folder = await home()
  const files = { cert: certificate("localhost.crt"), key: certificate("localhost.key") }
  const database = await startPostgres15(postgres.folder, files)
  onTestFinished(() => database.stop())
  const passwords = Object.entries(PASSWORDS).map(([role, password]) => [
    `${role.slice("outreach_".length).toUpperCase()}_PASSWORD`,
    password,
  ])
  await database.psql(join(REPOSITORY, "deploy/create-roles.sql"), Object.fromEntries(passwords))

  // PgBouncer reads its certificate as nobody, and asks the database for one that it trusts.
  const tls = await mkdtemp(join(tmpdir(), "outreach-certificates-"))
  onTestFinished(() => rm(tls, { recursive: true, force: true }))
  await chmod(tls, 0o755)
  for (const name of ["authority.crt", "localhost.crt", "localhost.key"]) {
    await cp(certificate(name), join(tls, name))
    await chown(join(tls, name), 65_534, 65_534)
  }
  const settings = `client_tls_sslmode = require
client_tls_cert_file = ${tls}/localhost.crt
client_tls_key_file = ${tls}/localhost.key
server_tls_sslmode = verify-full
server_tls_ca_file = ${tls}/authority.crt
`
  const pooled = await startPgBouncer(pgBouncer.folder, database.url, settings, PASSWORDS)

  const addressFor = (role: string, address: string) => {
    const url = Object.assign(new URL(address), { username: role, password: PASSWORDS[role]! })
    url.searchParams.set("sslmode", "verify-full")
    url.searchParams.set("sslrootcert", join(folder, "authority.crt"))
    return url.href
  }
  const mail = await mailServer()
  const port = String(await reservePort())
  const as = (role: string) =>
    artifactIn(
      folder,
      () => ({
        DATABASE_URL: addressFor(role, pooled),
        DATABASE_POOLER: "transaction",
        DATABASE_LISTEN_URL: addressFor(role, database.url),
        SECRETS_KEY: KEY,
        CURSOR_KEY: KEY,
        PORT: port,
        PUBLIC_BASE_URL: `http://127.0.0.1:${port}`,
        WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
        SHUTDOWN_DELAY_SECONDS: "0",
        SMTP_URL: mail.url,
        MAIL_FROM: "outreach@acme.test",
      }),
      { ...SERVICE, node: join(folder, "node") },
    )

  const grants = Object.entries(ROLES).map(([kind, role]) => `${kind}=${role}`)
  await as("outreach_owner").ops("migrate", "--grant-to", grants.join(","))
  const superuser = await connect(database.url)

  const adminPort = String(await reservePort())
  const api = await as(ROLES.api).start("api", "listening")
  const worker = await as(ROLES.worker).start("worker", "worker started", { ADMIN_PORT: adminPort })
  for (const url of [api.annotations.url, `http://127.0.0.1:${adminPort}`]) {
    await eventually(
      async () => await (await fetch(`${url}/readyz`)).text(),
      (text) => /^ready|"ready"/.test(text),
    )
  }
  const { opsJson } = as(ROLES.operator)
  const inputs = await mkdtemp(join(tmpdir(), "outreach-files-"))
  onTestFinished(() => rm(inputs, { recursive: true, force: true }))
  await chmod(inputs, 0o755)
  await expectJourney({ opsJson, apiUrl: api.annotations.url, mail, folder: inputs, recipients: 100 })

  const { rows } = await superuser.query(
    "select distinct usename, ssl from pg_stat_ssl join pg_stat_activity using (pid) where usename like 'outreach%'",
  )
  const encrypted = [ROLES.api, ROLES.worker, ROLES.operator].map((usename) => ({ usename, ssl: true }))
  expect(rows).toEqual(expect.arrayContaining(encrypted))
  expect([await api.stop(), await worker.stop()]).toEqual([0, 0])
})
