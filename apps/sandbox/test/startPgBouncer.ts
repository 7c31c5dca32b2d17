import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { eventually } from "@outreach/testing/eventually"
import { reservePort } from "@outreach/testing/reservePort"
import { onTestFinished } from "vitest"

/**
 * Starts PgBouncer in transaction mode before a database until the test is finished; returns the address of the database through it.
 *
 * It knows the user of the address, and the passwords of `users`.
 */
export const startPgBouncer = async (
  unpacked: string,
  databaseUrl: string,
  settings = "",
  users: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl)
  const folder = mkdtempSync(join(tmpdir(), "outreach-pgbouncer-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 50 }))
  const port = await reservePort()
  const passwords = Object.entries({ [username]: password, ...users })
  writeFileSync(join(folder, "users"), passwords.map(([name, text]) => `"${name}" "${text}"\n`).join(""))
  writeFileSync(
    join(folder, "ini"),
    `[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${folder}/users
pool_mode = transaction
default_pool_size = 4
${settings}
`,
  )
  chmodSync(folder, 0o755)
  // It refuses to run as root.
  const user = userInfo().uid === 0 ? { uid: 65_534, gid: 65_534 } : {}
  if ("uid" in user) execFileSync("chown", ["-R", `${user.uid}:${user.gid}`, folder])
  const below = (root: string) => readdirSync(join(unpacked, root)).map((name) => join(unpacked, root, name))
  const child = spawn(join(unpacked, "usr/sbin/pgbouncer"), ["-q", join(folder, "ini")], {
    ...user,
    cwd: folder,
    env: { LD_LIBRARY_PATH: below("usr/lib").join(":") },
    stdio: ["ignore", "ignore", "pipe"],
  })
  const ended = once(child, "exit")
  onTestFinished(async () => {
    child.kill("SIGKILL")
    await ended
  })
  let errors = ""
  child.stderr.on("data", (chunk) => {
    errors += chunk
  })
  const answers = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false))
      socket.on("close", () => socket.destroy()).end()
    })
  await eventually(
    async () => child.exitCode !== null || (await answers()),
    (over) => over,
  )
  if (child.exitCode !== null) throw new Error(`PgBouncer ended:\n${errors}`)
  return Object.assign(new URL(databaseUrl), { port: String(port) }).href
}
