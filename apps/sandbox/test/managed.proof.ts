import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { findProgram } from "@outreach/debian-packages/findProgram"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { withClient } from "@outreach/embedded-postgres/withClient"
import { ROLE_KINDS } from "@outreach/postgres/roles/grants"
import { describe, expect, it, onTestFinished } from "vitest"
import { KEY, REPOSITORY } from "./artifact.ts"
import { programsIn } from "./startPostgres15.ts"

const run = promisify(execFile)
const ROLES = [...ROLE_KINDS, "owner"]
/** Each role's password is its name. */
const PASSWORDS = Object.fromEntries(ROLES.map((role) => [`${role.toUpperCase()}_PASSWORD`, `outreach_${role}`]))
const GRANTS = ROLE_KINDS.map((kind) => `${kind}=outreach_${kind}`).join(",")
const postgres15 = findProgram("postgresql")

/** Functions that fail on Aurora, whose replicas share the primary's storage. */
const HIDDEN = [
  "pg_current_wal_lsn() returns pg_lsn",
  "pg_last_wal_replay_lsn() returns pg_lsn",
  "pg_walfile_name(pg_lsn) returns text",
]
const hide = (signature: string): string => `create or replace function pg_catalog.${signature} language plpgsql as $$
begin raise feature_not_supported using message = 'This function is currently not supported for Aurora'; end $$`

/** Runs statements on one connection. Returns the rows of the last. */
const query = (url: string, ...statements: readonly string[]) =>
  withClient(url, async (client) => {
    let rows: readonly unknown[] = []
    for (const statement of statements) ({ rows } = await client.query(statement))
    return rows
  })

const ops = async (DATABASE_URL: string, ...args: readonly string[]) => {
  const env = { PATH: process.env["PATH"], DATABASE_URL, SECRETS_KEY: KEY }
  const { stdout } = await run(process.execPath, [join(REPOSITORY, "apps/ops/src/main.ts"), ...args], { env }).catch(
    // `ops doctor` fails if settings are missing, but prints its findings.
    (failure: { stdout: string; stderr: string }) => {
      if (args[0] !== "doctor") throw new Error(failure.stdout + failure.stderr)
      return failure
    },
  )
  return stdout
}

describe.skipIf("missing" in postgres15)("a server with a restricted administrator", () => {
  it.each([
    ["where the administrator may pass on pg_monitor", true],
    ["where the administrator may not, and where the server hides its log, as Aurora does", false],
  ])("has its roles created, and is migrated with all rights, %s", async (_, mayMonitor) => {
    if ("missing" in postgres15) throw new Error(postgres15.missing)
    const { url: superuser, stop } = await startPostgres()
    onTestFinished(stop)
    const addressOf = (username: string) =>
      Object.assign(new URL(superuser), { username, password: username, pathname: "outreach" }).href
    await query(
      superuser,
      "create role service_admins createrole createdb",
      "create role administrator login createrole createdb password 'administrator' in role service_admins",
      ...(mayMonitor ? ["grant pg_monitor to service_admins with admin option"] : []),
      "create database outreach owner service_admins",
    )
    if (!mayMonitor) {
      const database = Object.assign(new URL(superuser), { pathname: "outreach" }).href
      await query(database, "set allow_system_table_mods = on", ...HIDDEN.map(hide))
    }

    const { bin, env } = programsIn(postgres15.folder)
    const script = ["-X", "-q", "-d", addressOf("administrator"), "-f", join(REPOSITORY, "deploy/create-roles.sql")]
    const { stderr } = await run(bin("psql"), script, { env: { ...env, ...PASSWORDS } })
    expect(stderr.includes("may not grant pg_monitor")).toBe(!mayMonitor)
    await ops(addressOf("outreach_owner"), "migrate", "--grant-to", GRANTS)

    const powerful = "select rolname from pg_roles where rolsuper or rolcreaterole or rolcreatedb order by 1"
    expect(await query(superuser, powerful)).toEqual(
      ["administrator", "postgres", "service_admins"].map((rolname) => ({ rolname })),
    )
    for (const kind of ROLE_KINDS) {
      expect(await query(addressOf(`outreach_${kind}`), "select from programs")).toEqual([])
    }
    const session =
      "select current_setting('statement_timeout') as timeout, pg_has_role('pg_monitor', 'member') as monitors"
    expect(await query(addressOf("outreach_worker"), session)).toEqual([{ timeout: "30s", monitors: mayMonitor }])
    await ops(addressOf("outreach_operator"), "organizations", "create", "--name", "Acme")
    const { checks } = ((report) => report.error ?? report)(
      JSON.parse(await ops(addressOf("outreach_operator"), "doctor", "--output", "json")),
    ) as { checks: ReadonlyArray<{ check: string; status: string; found: string }> }
    const statusOf = (check: string) => checks.find((each) => each.check === check)?.status
    expect({ schema: statusOf("schema"), role: statusOf("role") }).toEqual({
      schema: "ok",
      role: mayMonitor ? "ok" : "warning",
    })
    expect(checks.filter(({ found }) => /Aurora|denied/.test(found))).toEqual([])
  })
})
