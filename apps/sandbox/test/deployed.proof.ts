import { execFile } from "node:child_process"
import { chmod, chown, cp, readdir, readFile, writeFile } from "node:fs/promises"
import { userInfo } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { createClient } from "@outreach/client"
import { findProgram } from "@outreach/debian-packages/findProgram"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { mailServer } from "@outreach/testing/mailServer"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { eventually } from "@outreach/testing/until"
import { Client } from "pg"
import PostalMime from "postal-mime"
import { expect, it, onTestFinished } from "vitest"
import { artifactIn, buildArtifact, KEY, REPOSITORY } from "./artifact.ts"
import { createHost } from "./createHost.ts"
import { accountCreated, createCampaign, createPartner } from "./createPartner.ts"
import { startPgBouncer } from "./startPgBouncer.ts"
import { NOBODY, startPostgres15 } from "./startPostgres15.ts"

const RECIPIENTS = 100
const ACCOUNTS = 20
/** PgBouncer opens four connections for each role and keeps them. The two workers listen directly, each with a heartbeat. */
const MAX_SESSIONS = 4 + 2 * 2
/** The service's user, which has no name on this machine and owns no files. */
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

const run = promisify(execFile)

/** Creates a self-signed certificate of a host and its key, readable for the user of the servers. */
const createCertificate = async (host: string) => {
  const folder = temporaryFolder("certificate")
  const [certificate, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")]
  const ofCurve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
  const ofHost = ["-subj", "/CN=database", "-addext", `subjectAltName=IP:${host}`]
  await run("openssl", ["req", "-x509", ...ofCurve, ...ofHost, "-keyout", key, "-out", certificate])
  await chmod(folder, 0o755)
  for (const path of [certificate, key]) await chown(path, NOBODY.uid, NOBODY.gid)
  return { certificate, key }
}

it("installs, upgrades and goes back by the documented commands, and takes a campaign from import to the pull API as another user, with PostgreSQL 15 over TLS, through PgBouncer, under a role for each process", async ({
  skip,
}) => {
  const [postgres, pgBouncer] = [findProgram("postgresql"), findProgram("pgbouncer")]
  if ("missing" in postgres) return skip(postgres.missing)
  if ("missing" in pgBouncer) return skip(pgBouncer.missing)
  if (userInfo().uid !== 0) return skip("only root starts processes as other users")

  const host = loopbackAddress()
  const files = await createCertificate(host)
  const home = temporaryFolder("home")
  await buildArtifact(home)
  const authority = join(home, "authority.pem")
  await cp(files.certificate, authority)
  await cp(process.execPath, join(home, "node"))
  await chmod(home, 0o755)
  const installed = await createHost(home, { node: join(home, "node") })
  for (const version of ["0.1.0", "0.2.0"]) {
    const name = `outreach-partner-api-${version}`
    const pack = `mkdir ${name} && cp -r out ${REPOSITORY}/deploy ${name} && tar czf ${name}.tar.gz ${name}`
    await run("sh", ["-ec", pack], { cwd: home })
  }
  const processes = "outreach@api outreach@worker outreach@console"
  const begin = ["daemon-reload", "start outreach-migrate"]
  const first = { release: "0.1.0", systemctl: [...begin, `enable --now ${processes}`] }
  expect(await installed.follow("deployment.md", "## Run it with systemd")).toEqual(first)
  expect(await installed.follow("deployment.md", "## Run it with systemd")).toEqual(first)
  const second = { release: "0.2.0", systemctl: [...begin, `restart ${processes}`] }
  expect(await installed.follow("upgrading.md", "[With systemd]")).toEqual(second)
  const before = { release: "0.1.0", systemctl: ["daemon-reload", `restart ${processes}`] }
  expect(await installed.follow("upgrading.md", "## Going back")).toEqual(before)
  const installedFiles = await readdir(installed.current, { recursive: true })

  const database = await startPostgres15(postgres.folder, { host, ...files })
  const passwords = Object.entries(PASSWORDS).map(([role, password]) => [
    `${role.slice("outreach_".length).toUpperCase()}_PASSWORD`,
    password,
  ])
  await database.runAsAdministrator(join(REPOSITORY, "deploy/create-roles.sql"), Object.fromEntries(passwords))
  const settings = `client_tls_sslmode = require
client_tls_cert_file = ${files.certificate}
client_tls_key_file = ${files.key}
server_tls_sslmode = verify-full
server_tls_ca_file = ${files.certificate}
`
  const pooled = await startPgBouncer(pgBouncer.folder, database.url, { host, settings, users: PASSWORDS })
  const addressFor = (role: string, address: string) => {
    const url = Object.assign(new URL(address), { username: role, password: PASSWORDS[role]! })
    url.searchParams.set("sslmode", "verify-full")
    url.searchParams.set("sslrootcert", authority)
    return url.href
  }
  const mail = await mailServer()
  const as = (role: string) =>
    artifactIn(
      installed.current,
      () => ({
        DATABASE_URL: addressFor(role, pooled),
        DATABASE_LISTEN_URL: addressFor(role, database.url),
        HOST: host,
        PORT: "8080",
        PUBLIC_BASE_URL: `http://${host}:8080`,
        SMTP_URL: mail.url,
      }),
      { ...SERVICE, node: join(home, "node") },
    )

  const grants = Object.entries(ROLES).map(([kind, role]) => `${kind}=${role}`)
  await as("outreach_owner").ops("migrate", "--grant-to", grants.join(","))
  const api = await as(ROLES.api).start("api")
  const workers = [
    await as(ROLES.worker).start("worker"),
    await as(ROLES.worker).start("worker", { DATABASE_CONNECTIONS: "2" }),
  ]
  for (const url of [api.url, ...workers.map(({ adminUrl }) => adminUrl)]) {
    await eventually(
      () => fetch(`${url}/readyz`),
      ({ status }) => status === 200,
    )
  }

  const { opsJson } = as(ROLES.operator)
  const inputs = temporaryFolder("files")
  await chmod(inputs, 0o755)
  const partner = await createPartner(opsJson)
  const client = createClient({ apiKey: await partner.issueKey(), baseUrl: api.url, retryDelays: [] })
  const campaignId = await createCampaign(opsJson, {
    programId: partner.programId,
    folder: inputs,
    recipients: RECIPIENTS,
  })
  await opsJson("campaigns", "schedule", campaignId)
  await partner.receives("outreach.email_sent", RECIPIENTS)
  expect(mail.messages).toHaveLength(RECIPIENTS)

  // Concurrent, so that requests share connections.
  const statuses = await Promise.all(
    mail.messages.map(async ({ text }) => {
      const { html = "" } = await PostalMime.parse(text)
      const pixel = await fetch(/<img src="([^"]+)"/.exec(html)![1]!)
      const click = await fetch(/href="(http[^"]+)"/.exec(html)![1]!, { redirect: "manual" })
      return [pixel.status, click.status]
    }),
  )
  expect(statuses).toEqual(Array.from({ length: RECIPIENTS }, () => [200, 302]))
  await partner.receives("outreach.email_opened", RECIPIENTS)
  await partner.receives("outreach.email_clicked", RECIPIENTS)

  await Promise.all(
    Array.from({ length: ACCOUNTS }, (_, n) =>
      client.sendEvent(partner.endpointId, accountCreated(n), { secrets: [partner.signingSecret] }),
    ),
  )
  const date = new Date().toISOString().slice(0, 10)
  await eventually(
    () => opsJson("digests", "show", ...partner.ofAcme, date),
    ({ data }) => data[0]?.funnel.cumulative.account_created === ACCOUNTS,
  )
  const records = []
  for await (const record of client.listTokens({ since: "2026-01-01T00:00:00Z" })) records.push(record)
  expect(records.filter(({ sent_at }) => sent_at !== null)).toHaveLength(RECIPIENTS)
  const pulled = new Set<string>()
  for await (const { event_id } of client.listEvents({ since: "2026-01-01T00:00:00Z" })) pulled.add(event_id)
  expect(pulled.size).toBe(3 * RECIPIENTS)

  const ofOperators = {
    DATABASE_URL: addressFor(ROLES.operator, pooled),
    DATABASE_LISTEN_URL: addressFor(ROLES.operator, database.url),
    SECRETS_KEY: KEY,
  }
  const lines = Object.entries(ofOperators).map(([setting, value]) => `${setting}='${value}'\n`)
  await writeFile(join(installed.etc, "outreach.env"), "")
  await writeFile(join(installed.etc, "ops.env"), lines.join(""))
  expect(await installed.outreachOps("organizations", "list")).toContain("Acme")
  expect(await installed.outreachOps("organizations", "--help")).toContain("outreach-ops organizations <subcommand>")
  expect(await readdir(installed.current, { recursive: true })).toEqual(installedFiles)

  const metrics = await (await fetch(`${workers[0]!.adminUrl}/metrics`)).text()
  expect(Number(/^outreach_hints_heard_total (\d+)/m.exec(metrics)?.[1])).toBeGreaterThan(0)
  const superuser = new Client({ connectionString: database.url, ssl: { ca: await readFile(authority, "utf8") } })
  await superuser.connect()
  onTestFinished(() => superuser.end())
  const text = "select usename as role, ssl, state, query from pg_stat_ssl join pg_stat_activity using (pid)"
  const { rows } = await superuser.query<{ role: string; ssl: boolean }>(text)
  const sessions = [ROLES.api, ROLES.worker, ROLES.operator].map((used) => rows.filter(({ role }) => role === used))
  const isWrong = (of: typeof rows) => of.length === 0 || of.length > MAX_SESSIONS || !of.every(({ ssl }) => ssl)
  expect(sessions.filter(isWrong)).toEqual([])
  expect(await Promise.all([api, ...workers].map((process) => process.kill("SIGTERM")))).toEqual([0, 0, 0])
})
