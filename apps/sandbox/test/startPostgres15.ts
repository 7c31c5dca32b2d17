import { execFile } from "node:child_process"
import { globSync } from "node:fs"
import { chown, cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { reservePort } from "@outreach/testing/reservePort"

const run = promisify(execFile)
const NOBODY = { uid: 65_534, gid: 65_534 }
const PASSWORD = "hunter2"

/** The programs of PostgreSQL 15 in the folder, and the environment that they need. */
export const programsIn = (unpacked: string) => {
  // A slim Debian lacks some that Debian has in `/lib`.
  const libraries = ["usr/lib", "lib"].flatMap((folder) =>
    globSync("*", { cwd: join(unpacked, folder) }).map((name) => join(unpacked, folder, name)),
  )
  return {
    bin: (program: string) => join(unpacked, "usr/lib/postgresql/15/bin", program),
    env: { LD_LIBRARY_PATH: libraries.join(":"), PATH: process.env["PATH"], LC_ALL: "C.UTF-8" },
  }
}

/** A server of PostgreSQL 15 that takes encrypted connections alone. */
export interface Postgres15 {
  /** The superuser's address of the database `outreach`, less the parameters of TLS. */
  readonly url: string
  /**
   * Runs a file of SQL by psql, with these environment variables, as the administrator: not a superuser, but a role that may create roles and owns
   * the database.
   */
  readonly psql: (file: string, environment: Readonly<Record<string, string>>) => Promise<void>
  readonly stop: () => Promise<void>
}

/** Starts PostgreSQL 15 as the user nobody, with a certificate for `localhost`; root alone can. */
export const startPostgres15 = async (
  unpacked: string,
  certificate: { readonly cert: string; readonly key: string },
): Promise<Postgres15> => {
  const folder = await mkdtemp(join(tmpdir(), "outreach-postgres15-"))
  const data = join(folder, "data")
  const { bin, env } = programsIn(unpacked)
  const asNobody = (program: string, args: ReadonlyArray<string>) =>
    run(bin(program), args, { ...NOBODY, cwd: folder, env })

  await mkdir(data, { mode: 0o700 })
  await writeFile(join(folder, "password"), PASSWORD)
  await cp(certificate.cert, join(folder, "server.crt"))
  await cp(certificate.key, join(folder, "server.key"))
  const owned = [folder, data, ...["password", "server.crt", "server.key"].map((name) => join(folder, name))]
  for (const path of owned) await chown(path, NOBODY.uid, NOBODY.gid)
  await run("chmod", ["600", join(folder, "server.key")])

  const initdb = ["-D", data, "-U", "postgres", `--pwfile=${join(folder, "password")}`, "--auth=scram-sha-256"]
  await asNobody("initdb", [...initdb, "--encoding=UTF8", "--locale=C.UTF-8"])
  const port = await reservePort()
  await writeFile(
    join(data, "postgresql.auto.conf"),
    `listen_addresses = '127.0.0.1'
port = ${port}
unix_socket_directories = ''
fsync = off
ssl = on
ssl_cert_file = '${folder}/server.crt'
ssl_key_file = '${folder}/server.key'
`,
  )
  await writeFile(join(data, "pg_hba.conf"), "hostssl all all 127.0.0.1/32 scram-sha-256\n")
  await asNobody("pg_ctl", ["start", "-w", "-t", "60", "-D", data, "-l", join(folder, "log")])

  const connection = { ...env, PGHOST: "localhost", PGPORT: String(port), PGUSER: "postgres", PGPASSWORD: PASSWORD }
  const psql = async (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>> = {}) => {
    await run(bin("psql"), ["-X", "-q", "-v", "ON_ERROR_STOP=1", ...args], { env: { ...connection, ...environment } })
  }
  const administrator = { PGUSER: "administrator", PGPASSWORD: PASSWORD }
  for (const statement of [
    `create role administrator login createrole createdb password '${PASSWORD}'`,
    "grant pg_monitor to administrator with admin option",
    "create database outreach owner administrator",
  ]) {
    await psql(["-d", "postgres", "-c", statement])
  }
  return {
    url: `postgres://postgres:${PASSWORD}@localhost:${port}/outreach`,
    psql: (file, environment) => psql(["-d", "outreach", "-f", file], { ...administrator, ...environment }),
    stop: async () => {
      await asNobody("pg_ctl", ["stop", "-w", "-m", "immediate", "-D", data])
      await rm(folder, { recursive: true })
    },
  }
}
