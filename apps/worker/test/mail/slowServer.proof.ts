import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { installDebianPackages } from "@outreach/debian-packages/installDebianPackages"
import { eventually } from "@outreach/testing/eventually"
import { listen } from "@outreach/testing/listen"
import { describe, expect, it, onTestFinished } from "vitest"
import { journey } from "../journey.ts"
import { partner } from "../partner.ts"
import { startWorker } from "../startWorker.ts"

const { url, launch, query } = journey()
const postfix = await installDebianPackages(["postfix"], ["/usr/sbin/postfix"])

const freePort = async () => {
  const probe = createServer()
  const port = await listen(probe)
  probe.close()
  return port
}

describe.skipIf("missing" in postfix)("a message to a postfix that sleeps for 40 s after the final dot", () => {
  it("is sent once, is recorded as sent, and lies in the mailbox once", { timeout: 600_000 }, async () => {
    if ("missing" in postfix) return
    const port = await freePort()
    const server = await startPostfix(postfix.program, port, { smtpd_end_of_data_restrictions: "sleep 40" })
    const to = await partner()
    const { campaign } = await launch(to, 1)
    const worker = await startWorker(url(), { SMTP_URL: `smtp://127.0.0.1:${port}` })

    // Postfix accepts a message before it delivers it and writes its log later still, so all three are waited for. Two copies end the
    // wait as well, so that a failure shows at once.
    const unsent = () =>
      query((sql) => sql`select from recipients where campaign_id = ${campaign.id} and sent_at is null`)
    const delivered = () => server.readLog().match(/^.*status=sent.*$/gm) ?? []
    await eventually(
      async () =>
        delivered().length > 1 ||
        (delivered().length === 1 && server.readMailbox().length > 0 && (await unsent()).length === 0),
      (over) => over,
      300_000,
    )
    process.stderr.write(`${delivered().join("\n")}\n`)
    expect(delivered()).toHaveLength(1)
    expect(server.readMailbox()).toHaveLength(1)
    expect(await unsent()).toEqual([])
    expect(worker.output.log).not.toContain("lost before it was settled")
  })
})

const SERVICES = `cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
error unix - - n - - error
retry unix - - n - - error
virtual unix - n n - - virtual
proxymap unix - - n - - proxymap
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
`

/**
 * Starts postfix with a configuration and folders of its own until the test is finished. It listens on a loopback port and puts every
 * message to `clinic.test` into one mailbox.
 */
const startPostfix = async (program: string, port: number, settings: Readonly<Record<string, string>>) => {
  const folder = mkdtempSync(join(tmpdir(), "postfix-"))
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
    ...settings,
  }
  writeFileSync(
    join(configuration, "main.cf"),
    Object.entries(main)
      .map(([name, value]) => `${name} = ${value}\n`)
      .join(""),
  )
  writeFileSync(join(configuration, "master.cf"), `127.0.0.1:${port} inet n - n - - smtpd\n${SERVICES}`)
  const child = spawn(program, ["-c", configuration, "start-fg"], { stdio: ["ignore", "pipe", "pipe"] })
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk
    })
  }
  const ended = once(child, "exit")
  onTestFinished(async () => {
    spawn(program, ["-c", configuration, "stop"], { stdio: "ignore" })
    await ended
    rmSync(folder, { recursive: true, force: true, maxRetries: 50 })
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
    readLog,
    /** Returns the text of every message in the mailbox. */
    readMailbox: () => {
      try {
        return readdirSync(join(mailbox, "new")).map((name) => readFileSync(join(mailbox, "new", name), "utf8"))
      } catch {
        return []
      }
    },
  }
}
