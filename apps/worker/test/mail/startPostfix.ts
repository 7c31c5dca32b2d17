import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { eventually } from "@outreach/testing/until"
import { onTestFinished } from "vitest"

const SERVICES = `cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
error unix - - n - - error
retry unix - - n - - error
virtual unix - n n - - virtual
smtp unix - - n - - smtp
tlsmgr unix - - n 1000? 1 tlsmgr
proxymap unix - - n - - proxymap
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
`

/** Ports of a relay's address: the relay, a second server, and the worker's bounce listener. */
export const PORTS = { relay: 2525, next: 2526, bounces: 2527 } as const

/**
 * Starts postfix with separate configuration, folders and loopback address until the test is finished. Delivers all messages for
 * `clinic.test` to one mailbox.
 */
export const startPostfix = async (
  program: string,
  settings: Readonly<Record<string, string>>,
  {
    host = loopbackAddress(),
    services = "",
  }: {
    readonly host?: string
    /** Additional lines of master.cf. */
    readonly services?: string
  } = {},
) => {
  const folder = temporaryFolder("postfix")
  chmodSync(folder, 0o755)
  const [configuration, mailbox, log] = [join(folder, "etc"), join(folder, "mail/inbox"), join(folder, "log")]
  for (const part of ["etc", "queue", "data", "mail"]) mkdirSync(join(folder, part))
  chmodSync(join(folder, "mail"), 0o777)
  execFileSync("chown", ["postfix", join(folder, "data")])
  const main = {
    compatibility_level: "3.6",
    queue_directory: join(folder, "queue"),
    data_directory: join(folder, "data"),
    maillog_file: log,
    maillog_file_prefixes: folder,
    // Postfix recognizes only this loopback address as local, and listens on the one in master.cf.
    inet_interfaces: "127.0.0.1",
    inet_protocols: "ipv4",
    myhostname: "relay.test",
    mydestination: "",
    alias_maps: "",
    virtual_mailbox_domains: "clinic.test",
    virtual_mailbox_base: join(folder, "mail"),
    virtual_mailbox_maps: "static:inbox/",
    virtual_uid_maps: "static:65534",
    virtual_gid_maps: "static:65534",
    default_transport: "error:no mail leaves this machine",
    // These services aren't in master.cf. A delivery that waits for one keeps its message locked, and qmgr postpones a locked message by minutes.
    fast_flush_domains: "",
    smtp_connection_cache_on_demand: "no",
    ...settings,
  }
  writeFileSync(
    join(configuration, "main.cf"),
    Object.entries(main)
      .map(([name, value]) => `${name} = ${value}\n`)
      .join(""),
  )
  writeFileSync(join(configuration, "master.cf"), `${host}:${PORTS.relay} inet n - n - - smtpd\n${SERVICES}${services}`)
  const child = spawn(program, ["-c", configuration, "start-fg"], { stdio: ["ignore", "pipe", "pipe"] })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk
    })
  }
  const ended = once(child, "exit")
  onTestFinished(async ({ task }) => {
    if (task.result?.state === "fail") console.log(readLog())
    spawn(program, ["-c", configuration, "stop"], { stdio: "ignore" })
    await ended
  })
  const readLog = () => {
    try {
      return readFileSync(log, "utf8")
    } catch {
      return ""
    }
  }
  const isUp = await eventually(
    () => readLog().includes("daemon started") || child.exitCode !== null,
    (over) => over,
    60_000,
  )
  if (!isUp || child.exitCode !== null) throw new Error(`postfix did not start: ${output}${readLog()}`)
  return {
    ...{ host, url: `smtp://${host}:${PORTS.relay}`, readLog },
    /** Returns every message in the mailbox. */
    readMailbox: () => readMaildir(mailbox),
  }
}

/** Returns every message of a mailbox. A message appears in it when it has been written completely. */
export const readMaildir = (mailbox: string): ReadonlyArray<string> => {
  try {
    return readdirSync(join(mailbox, "new")).map((name) => readFileSync(join(mailbox, "new", name), "utf8"))
  } catch {
    return []
  }
}
