import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { ROLE_KINDS } from "@outreach/postgres/roles/grants"
import { Client } from "pg"
import { describe, expect, it, onTestFinished } from "vitest"
import { REPOSITORY } from "./artifact.ts"
import { findPostgres15, programsIn } from "./startPostgres15.ts"

const run = promisify(execFile)
const ROLES = [...ROLE_KINDS, "owner"]
/** Each role has its name as its password. */
const PASSWORDS = Object.fromEntries(ROLES.map((role) => [`${role.toUpperCase()}_PASSWORD`, `outreach_${role}`]))
const GRANTS = ROLE_KINDS.map((kind) => `${kind}=outreach_${kind}`).join(",")
const postgres15 = await findPostgres15()

const query = async (connectionString: string, ...statements: readonly string[]) => {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    let rows: readonly unknown[] = []
    for (const statement of statements) ({ rows } = await client.query(statement))
    return rows
  } finally {
    await client.end()
  }
}

const ops = async (DATABASE_URL: string, ...args: readonly string[]) =>
  await run(process.execPath, [join(REPOSITORY, "apps/ops/src/main.ts"), ...args], {
    env: { PATH: process.env["PATH"], DATABASE_URL, SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") },
  })

describe.skipIf("missing" in postgres15)(
  "a server whose administrator may create roles and databases, and no more",
  () => {
    it.each([
      ["its administrator may pass on pg_monitor", "grant pg_monitor to service_admins with admin option", true],
      ["its administrator may not", "select", false],
    ])("has its roles created, and is migrated with all rights, where %s", async (_, grant, mayMonitor) => {
      if ("missing" in postgres15) throw new Error(postgres15.missing)
      const { url: superuser, stop } = await startPostgres()
      onTestFinished(stop)
      const addressOf = (username: string) =>
        Object.assign(new URL(superuser), { username, password: username, pathname: "outreach" }).href
      await query(
        superuser,
        "create role service_admins createrole createdb",
        "create role administrator login createrole createdb password 'administrator' in role service_admins",
        grant,
        "create database outreach owner service_admins",
      )
      const { bin, env } = await programsIn(postgres15.folder)
      const script = ["-X", "-q", "-d", addressOf("administrator"), "-f", join(REPOSITORY, "deploy/create-roles.sql")]
      const { stderr } = await run(bin("psql"), script, { env: { ...env, ...PASSWORDS } })
      expect(stderr.includes("grant pg_monitor")).toBe(!mayMonitor)

      await ops(addressOf("outreach_owner"), "migrate", "--grant-to", GRANTS)
      expect(
        await query(
          superuser,
          "select rolname from pg_roles where rolsuper or rolcreaterole or rolcreatedb order by 1",
        ),
      ).toEqual(["administrator", "postgres", "service_admins"].map((rolname) => ({ rolname })))
      for (const kind of ROLE_KINDS) {
        const reads = `select current_setting('statement_timeout') as timeout, pg_has_role('pg_monitor', 'member') as monitors from programs`
        expect({ kind, rows: await query(addressOf(`outreach_${kind}`), reads) }).toEqual({ kind, rows: [] })
      }
      const [session] = await query(
        addressOf("outreach_worker"),
        "select current_setting('statement_timeout') as timeout, pg_has_role('pg_monitor', 'member') as monitors",
      )
      expect(session).toEqual({ timeout: "30s", monitors: mayMonitor })
      const { stdout } = await ops(addressOf("outreach_operator"), "doctor", "--json").catch(
        (failure: { stdout: string }) => failure,
      )
      const report = JSON.parse(stdout)
      const checks: ReadonlyArray<{ check: string; status: string }> = (report.error ?? report).checks
      expect(checks.filter(({ check }) => check === "role" || check === "schema").map(({ status }) => status)).toEqual(
        mayMonitor ? ["ok", "ok"] : ["ok", "warning"],
      )
    })
  },
)
