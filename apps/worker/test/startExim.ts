import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { eventually } from "./eventually.ts"

/** Where Debian's packages are unpacked, for every run on this machine: nothing is installed. */
const UNPACKED = join(tmpdir(), `outreach-exim-${userInfo().uid}`)
/** Exim looks its own user up by name, which this library answers without an entry in /etc/passwd. */
const PACKAGES = ["exim4-daemon-light", "libnss-wrapper"]

/** Answers the folder with Debian's exim, or says why there is none. */
export const findExim = (): { readonly folder: string } | { readonly missing: string } => {
  if (existsSync(UNPACKED)) return { folder: UNPACKED }
  const fetched = mkdtempSync(`${UNPACKED}-`)
  try {
    const options = { cwd: fetched, stdio: "pipe" } as const
    execFileSync("apt-get", ["download", ...PACKAGES], { ...options, timeout: 60_000 })
    for (const file of readdirSync(fetched)) execFileSync("dpkg", ["-x", file, "."], options)
    // Its own user runs it, so that it needs no rights of root; with them it would not load the library.
    chmodSync(join(fetched, "usr/sbin/exim4"), 0o755)
    chmodSync(fetched, 0o755)
    if (execFileSync("ldd", ["usr/sbin/exim4"], options).toString().includes("not found")) {
      throw new Error("a library of its own is missing")
    }
    renameSync(fetched, UNPACKED)
    return { folder: UNPACKED }
  } catch (error) {
    rmSync(fetched, { recursive: true, force: true })
    return { missing: `Debian's exim cannot be fetched here: ${(error as Error).message.split("\n")[0]}` }
  }
}

/** Starts exim with a configuration and folders of its own until the test is finished. */
export const startExim = async (
  unpacked: string,
  port: number,
  /** Everything after the main section's own part. */
  configure: (folder: string) => string,
) => {
  const asRoot = userInfo().uid === 0
  const [uid, gid] = asRoot ? [65_534, 65_534] : [userInfo().uid, userInfo().gid]
  const folder = mkdtempSync(join(tmpdir(), "exim-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
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
  const library = join(
    unpacked,
    "usr/lib",
    readdirSync(join(unpacked, "usr/lib")).find((name) => name.endsWith("-linux-gnu")) ?? "",
    "libnss_wrapper.so",
  )
  const binary = join(unpacked, "usr/sbin/exim4")
  // Exim clears its environment, and starts itself anew for each delivery.
  const exim = write(
    "exim",
    `#!/bin/sh\nLD_PRELOAD=${library} NSS_WRAPPER_PASSWD=${passwd} NSS_WRAPPER_GROUP=${group} exec ${binary} "$@"\n`,
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
local_interfaces = 127.0.0.1
tls_advertise_hosts =
dsn_advertise_hosts = *
deliver_drop_privilege = true
${configure(folder)}
`,
  )
  const child = spawn(exim, ["-C", configuration, "-bdf", "-q1s"], { uid, gid, cwd: folder, stdio: "ignore" })
  const ended = once(child, "exit")
  onTestFinished(async () => {
    child.kill("SIGTERM")
    await ended
  })
  const answers = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false))
      socket.on("close", () => socket.destroy()).end()
    })
  await eventually(answers, (up) => up || child.exitCode !== null)
  return { folder }
}
