import { execFileSync } from "node:child_process"
import { chmodSync, readdirSync, writeFileSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { startProgram } from "@outreach/testing/startProcess"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { until } from "@outreach/testing/until"

const PORT = 6432

/**
 * Starts PgBouncer in transaction mode in front of a database until the test is finished. Returns the database's URL through it.
 *
 * PgBouncer knows the URL's user, and the passwords in `users`. Its default host is a separate loopback address.
 */
export const startPgBouncer = async (
  unpacked: string,
  databaseUrl: string,
  options: {
    readonly host?: string
    readonly settings?: string
    readonly users?: Readonly<Record<string, string>>
  } = {},
): Promise<string> => {
  const { host = loopbackAddress(), settings = "", users = {} } = options
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl)
  const folder = temporaryFolder("pgbouncer")
  const passwords = Object.entries({ [username]: password, ...users })
  writeFileSync(join(folder, "users"), passwords.map(([name, text]) => `"${name}" "${text}"\n`).join(""))
  writeFileSync(
    join(folder, "ini"),
    `[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = ${host}
listen_port = ${PORT}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${folder}/users
pool_mode = transaction
default_pool_size = 4
${settings}
`,
  )
  chmodSync(folder, 0o755)
  // It doesn't run as root.
  const user = userInfo().uid === 0 ? { uid: 65_534, gid: 65_534 } : {}
  if ("uid" in user) execFileSync("chown", ["-R", `${user.uid}:${user.gid}`, folder])
  const below = (root: string) => readdirSync(join(unpacked, root)).map((name) => join(unpacked, root, name))
  const pgBouncer = startProgram(join(unpacked, "usr/sbin/pgbouncer"), [join(folder, "ini")], {
    ...user,
    cwd: folder,
    env: { LD_LIBRARY_PATH: below("usr/lib").join(":") },
  })
  await until(pgBouncer, ({ errors }) => errors.includes("process up"))
  return Object.assign(new URL(databaseUrl), { host: `${host}:${PORT}` }).href
}
