import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { connect, createServer } from "node:net"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { unpackDebianPackages } from "@outreach/debian-packages/unpackDebianPackages"
import { eventually } from "@outreach/testing/eventually"
import { listen } from "@outreach/testing/listen"
import { onTestFinished } from "vitest"
import { journey } from "../journey.ts"
import { partner } from "../partner.ts"
import { startWorker } from "../startWorker.ts"

/** Returns the folder with Debian's exim, or why there is none. Exim finds its own user with the second package, without an entry in /etc/passwd. */
const findExim = () =>
  unpackDebianPackages(["exim4-daemon-light", "libnss-wrapper"], join(tmpdir(), `outreach-exim-${userInfo().uid}`))

/** Starts exim with a configuration and folders of its own until the test is finished. */
const startExim = async (
  unpacked: string,
  port: number,
  /** Everything after the main section's own part. */
  configure: (folder: string) => string,
) => {
  const asRoot = userInfo().uid === 0
  const [uid, gid] = asRoot ? [65_534, 65_534] : [userInfo().uid, userInfo().gid]
  const folder = mkdtempSync(join(tmpdir(), "exim-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 50 }))
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
  // With the rights of root that the package gives it, it would not load the libraries.
  chmodSync(binary, 0o755)
  // Exim clears its environment, and starts itself anew for each delivery.
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

const { url, launch, query } = journey()
const exim = await findExim()

const freePort = async () => {
  const probe = createServer()
  const port = await listen(probe)
  probe.close()
  return port
}

/** A relay that answers each domain of recipients in its own way, and sends on to itself what a second server is to refuse. */
const routes =
  (ports: { readonly relay: number; readonly next: number; readonly bounces: number }) => (folder: string) =>
    `
daemon_smtp_ports = ${ports.relay} : ${ports.next}
acl_smtp_rcpt = rcpt
begin acl
rcpt:
  deny domains = rejects.test
    message = 550 5.1.1 No such user here
  defer domains = defers.test
    message = 451 4.2.0 Greylisted
  deny domains = blocks.test
    message = 550 5.7.1 Blocked by policy
  deny domains = late.test
    condition = \${if eq{$received_port}{${ports.next}}}
    message = 550 5.2.1 This account is disabled
  deny domains = policy.test
    condition = \${if eq{$received_port}{${ports.next}}}
    message = 550 5.7.1 Your address is listed
  accept
begin routers
onward:
  driver = manualroute
  domains = late.test : policy.test
  transport = smtp
  route_list = * 127.0.0.1::${ports.next}
  self = send
  no_more
back:
  driver = manualroute
  domains = bounces.acme.test
  transport = smtp
  route_list = * 127.0.0.1::${ports.bounces}
  self = send
  no_more
unknown:
  driver = redirect
  domains = unknown.test
  allow_fail
  data = :fail: nobody knows this domain
here:
  driver = accept
  transport = file
begin transports
smtp:
  driver = smtp
  allow_localhost
  hosts_try_dane =
  hosts_try_fastopen =
file:
  driver = appendfile
  file = ${folder}/mail/taken
begin retry
* * F,1h,1s
`

const DOMAINS = ["accepts", "rejects", "defers", "blocks", "unknown", "late", "policy"]

describe.skipIf("missing" in exim)("the outcomes of messages that exim takes, refuses and returns", () => {
  it("are those that it reports, at once or later", async () => {
    if ("missing" in exim) return
    const ports = { relay: await freePort(), next: await freePort(), bounces: await freePort() }
    const { folder } = await startExim(exim.folder, ports.relay, routes(ports))
    const to = await partner()
    const { campaign } = await launch(to, DOMAINS.length)
    await query(
      (sql) => sql`
        update recipients set email = 'x@' || (${DOMAINS}::text[])[place] || '.test'
        from (select id, row_number() over (order by id)::int as place from recipients where campaign_id = ${campaign.id}) numbered
        where recipients.id = numbered.id`,
    )
    await startWorker(url(), {
      SMTP_URL: `smtp://127.0.0.1:${ports.relay}`,
      BOUNCE_DOMAIN: "bounces.acme.test",
      BOUNCE_SMTP_PORT: String(ports.bounces),
    })

    const outcomes = async () => {
      const rows = await query<{
        domain: string
        sent: boolean
        reason: string | null
        attempts: number | null
        status: string | null
      }>(
        (sql) => sql`
            select split_part(split_part(email, '@', 2), '.', 1) as domain, sent_at is not null as sent,
              (select body::jsonb -> 'data' ->> 'bounce_reason' from events
                where recipient_id = recipient.id and type = 'outreach.email_bounced') as reason,
              (select attempts from messages where recipient_id = recipient.id) as attempts,
              (select status from domain_pauses where domain = split_part(email, '@', 2)) as status
            from recipients recipient where campaign_id = ${campaign.id}`,
      )
      return Object.fromEntries(rows.map(({ domain, ...outcome }) => [domain, outcome]))
    }
    const nothing = { sent: false, reason: null, attempts: null, status: null }
    const expected = {
      accepts: { ...nothing, sent: true },
      rejects: { ...nothing, reason: "mailbox_not_found" },
      defers: { ...nothing, attempts: 1 },
      blocks: { ...nothing, attempts: 0, status: "550 5.7.1" },
      unknown: { ...nothing, sent: true, reason: "other" },
      late: { ...nothing, sent: true, reason: "mailbox_disabled" },
      policy: { ...nothing, sent: true, status: "550 5.7.1" },
    }
    const settled = (now: Awaited<ReturnType<typeof outcomes>>) =>
      JSON.stringify(sorted(now)) === JSON.stringify(sorted(expected))
    expect(await eventually(outcomes, settled, 300_000)).toEqual(expected)
    expect(readFileSync(`${folder}/mail/taken`, "utf8")).toContain("To: x@accepts.test")
  })
})

const sorted = (outcomes: object) =>
  Object.entries(outcomes)
    .sort()
    .map(([domain, outcome]) => [domain, Object.entries(outcome as object).sort()])
