import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { userInfo } from "node:os"
import { join } from "node:path"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { eventually } from "@outreach/testing/until"
import { onTestFinished } from "vitest"
import { PORTS } from "./startPostfix.ts"

/** Starts exim with separate configuration, folders and loopback address until the test is finished. */
export const startExim = async (
  unpacked: string,
  /** Returns the configuration after the main section's common part. */
  configure: (folder: string, host: string) => string,
) => {
  const host = loopbackAddress()
  const asRoot = userInfo().uid === 0
  const [uid, gid] = asRoot ? [65_534, 65_534] : [userInfo().uid, userInfo().gid]
  const folder = temporaryFolder("exim")
  for (const part of ["spool", "log", "mail"]) mkdirSync(join(folder, part), { mode: 0o777 })
  if (asRoot) execFileSync("chown", ["-R", `${uid}:${gid}`, folder])
  const write = (name: string, text: string, mode = 0o644) => {
    writeFileSync(join(folder, name), text)
    chmodSync(join(folder, name), mode)
    return join(folder, name)
  }
  chmodSync(folder, 0o755)
  const passwd = write("passwd", `Debian-exim:x:${uid}:${gid}::/:/bin/false\n`)
  const group = write("group", `Debian-exim:x:${gid}:\n`)
  const below = (root: string) => readdirSync(join(unpacked, root)).filter((name) => name.endsWith("-linux-gnu"))
  const libraries = ["lib", "usr/lib"].flatMap((root) => below(root).map((name) => join(unpacked, root, name)))
  const binary = join(unpacked, "usr/sbin/exim4")
  // With the setuid bit of the package, it wouldn't load the libraries.
  chmodSync(binary, 0o755)
  // Exim clears its environment, and restarts itself for each delivery.
  const exim = write(
    "exim",
    `#!/bin/sh
export LD_LIBRARY_PATH=${libraries.join(":")} LD_PRELOAD=libnss_wrapper.so NSS_WRAPPER_PASSWD=${passwd} NSS_WRAPPER_GROUP=${group}
exec ${binary} "$@"
`,
    0o755,
  )
  const configuration = write(
    "configuration",
    `primary_hostname = relay.test
exim_path = ${exim}
keep_environment =
spool_directory = ${folder}/spool
log_file_path = ${folder}/log/%slog
pid_file_path = ${folder}/exim.pid
local_interfaces = ${host}
dsn_advertise_hosts = *
deliver_drop_privilege = true
${configure(folder, host)}
`,
  )
  const child = spawn(exim, ["-C", configuration, "-bdf", "-q1s"], { uid, gid, cwd: folder, stdio: "ignore" })
  const ended = once(child, "exit")
  onTestFinished(async () => {
    child.kill("SIGTERM")
    await ended
  })
  await untilListening(host, child)
  return { folder, host }
}

const untilListening = async (host: string, child: ChildProcess) => {
  const connects = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(PORTS.relay, host, () => resolve(true)).on("error", () => resolve(false))
      socket.on("close", () => socket.destroy()).end()
    })
  await eventually(connects, (isListening) => isListening || child.exitCode !== null)
}
