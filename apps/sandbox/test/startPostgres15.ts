import { execFile } from "node:child_process"
import { globSync } from "node:fs"
import { chown, mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { onTestFinished } from "vitest"

const run = promisify(execFile)
export const NOBODY = { uid: 65_534, gid: 65_534 }
const PASSWORD = "hunter2"
const PORT = "5432"

/** The programs of PostgreSQL 15 in a folder, and their environment. */
export const programsIn = (unpacked: string) => {
  // A slim Debian lacks libraries that Debian has in `/lib`.
  const libraries = ["usr/lib", "lib"].flatMap((folder) =>
    globSync("*", { cwd: join(unpacked, folder) }).map((name) => join(unpacked, folder, name)),
  )
  return {
    bin: (program: string) => join(unpacked, "usr/lib/postgresql/15/bin", program),
    env: { LD_LIBRARY_PATH: libraries.join(":"), PATH: process.env["PATH"], LC_ALL: "C.UTF-8" },
  }
}

/**
 * Starts PostgreSQL 15 as another user until the test is finished, only for encrypted connections. Requires root.
 *
 * Returns the superuser's URL of the database `outreach` without TLS parameters, and a function that runs an SQL file as an administrator:
 * a role that isn't a superuser, but may create roles and owns the database.
 */
export const startPostgres15 = async (
  unpacked: string,
  { host, certificate, key }: { readonly host: string; readonly certificate: string; readonly key: string },
) => {
  const folder = temporaryFolder("postgres15")
  const data = join(folder, "data")
  const { bin, env } = programsIn(unpacked)
  const asNobody = (program: string, args: ReadonlyArray<string>) =>
    run(bin(program), args, { ...NOBODY, cwd: folder, env })

  await mkdir(data, { mode: 0o700 })
  await writeFile(join(folder, "password"), PASSWORD)
  for (const path of [folder, data, join(folder, "password")]) await chown(path, NOBODY.uid, NOBODY.gid)
  const initdb = ["-D", data, "-U", "postgres", `--pwfile=${join(folder, "password")}`, "--auth=scram-sha-256"]
  await asNobody("initdb", [...initdb, "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"])
  await writeFile(
    join(data, "postgresql.auto.conf"),
    `listen_addresses = '${host}'
port = ${PORT}
unix_socket_directories = ''
fsync = off
ssl = on
ssl_cert_file = '${certificate}'
ssl_key_file = '${key}'
`,
  )
  await writeFile(join(data, "pg_hba.conf"), "hostssl all all 127.0.0.0/8 scram-sha-256\n")
  await asNobody("pg_ctl", ["start", "-w", "-t", "60", "-D", data, "-l", join(folder, "log")])
  onTestFinished(async () => void (await asNobody("pg_ctl", ["stop", "-w", "-m", "immediate", "-D", data])))

  const connection = { ...env, PGHOST: host, PGPORT: PORT, PGUSER: "postgres", PGPASSWORD: PASSWORD }
  const psql = async (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>> = {}) => {
    await run(bin("psql"), ["-X", "-q", "-v", "ON_ERROR_STOP=1", ...args], { env: { ...connection, ...environment } })
  }
  const statements = [
    `create role administrator login createrole createdb password '${PASSWORD}'`,
    "grant pg_monitor to administrator with admin option",
    "create database outreach owner administrator",
  ]
  await psql(["-d", "postgres", ...statements.flatMap((statement) => ["-c", statement])])
  const administrator = { PGUSER: "administrator", PGPASSWORD: PASSWORD }
  return {
    url: `postgres://postgres:${PASSWORD}@${host}:${PORT}/outreach`,
    runAsAdministrator: (file: string, environment: Readonly<Record<string, string>>) =>
      psql(["-d", "outreach", "-f", file], { ...administrator, ...environment }),
  }
}
